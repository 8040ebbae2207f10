import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../in-memory-app.ts';
import type { Event } from '../ledger/event.ts';
import { agent } from '../runnables/agent.ts';
import type { SubstituteAnswer } from '../runnables/hooks.ts';
import { step } from '../runnables/step.ts';
import { runtime } from '../runtime.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { ToolFailure } from '../tools/errors.ts';
import { tool } from '../tools/tool.ts';
import { decisionSentence, explainedComponents } from './decision-words.ts';
import { explain, explainText } from './explain.ts';
import { failures } from './failures.ts';

const sourceFolder = join(import.meta.dirname, '..');

function sources(): readonly string[] {
  return readdirSync(sourceFolder, { recursive: true, encoding: 'utf8' })
    .filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.startsWith('views'),
    )
    .map((name) => readFileSync(join(sourceFolder, name), 'utf8'));
}

const named = /\bcomponent(?:: | = | === |: string = )'([a-z_]+)'/g;

/** Names that the source gives to the components of decisions, wherever it writes one down. */
function componentsInSource(): readonly string[] {
  return [
    ...new Set(
      sources().flatMap((text) => [...text.matchAll(named)].map(([, name]) => name as string)),
    ),
  ];
}

/** What the contract of supervision names, whoever writes it and in whatever way. */
const agreed = [
  'loop_detector',
  'error_router',
  'circuit_breaker',
  'limits',
  'guardrail',
  'result_check',
  'hooks',
  'error_handler',
];
const agreedToo = ['models', 'output', 'goal', 'permissions', 'context', 'lifecycle'];

test('there are words for every component that the source has decide something', () => {
  const found = componentsInSource().filter((name) => name !== 'string');
  expect(found.length).toBeGreaterThan(12);
  expect(found).toEqual(
    expect.arrayContaining([
      'limits',
      'invoke',
      'inbox',
      'permissions',
      'lifecycle',
      'shared_state',
    ]),
  );
  expect(
    [...found, ...agreed, ...agreedToo].filter((name) => !explainedComponents.includes(name)),
  ).toEqual([]);
});

test('every sentence is whole, whatever a decision is called and holds', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...explainedComponents, 'somebody_new', 'constructor', '__proto__'),
      fc.oneof(
        fc.constantFrom(
          'warn',
          'block',
          'retry',
          'escalate',
          'refuse',
          'grant',
          'transfer',
          'toString',
          'other',
        ),
        fc.string(),
      ),
      fc.dictionary(
        fc.constantFrom(
          'tool',
          'guardrail',
          'permissions',
          'from',
          'to',
          'kind',
          'fallback',
          'point',
          'escalateTo',
        ),
        fc.oneof(
          fc.constantFrom('constructor', '__proto__', 'input', 'human'),
          fc.string(),
          fc.integer(),
          fc.constant(null),
          fc.array(fc.string()),
        ),
      ),
      (component, decision, data) => {
        const sentence = decisionSentence({ component, decision, data }, 'support');
        expect(sentence).toMatch(/\.$/s);
        expect(sentence).not.toMatch(/undefined|\[object|\[native/);
      },
    ),
  );
});

/**
 * A run in which a tool fails and is run again, a limit is reached, and the model's first call
 * fails.
 */
async function recorded() {
  let failed = false;
  const flaky = tool({
    name: 'flaky',
    description: 'Fails once',
    schema: z.object({}),
    recovery: 'rerun',
    retry: { maxAttempts: 2, initialDelayMs: 1 },
    execute: () => {
      if (failed) return 'fine';
      failed = true;
      throw new ToolFailure('It is busy.', { status: 'error_transient' });
    },
  });
  const broken = tool({
    name: 'broken',
    description: 'Never works',
    schema: z.object({}),
    execute: () => Promise.reject(new Error('no luck')),
  });
  const model = scriptedModel([
    {
      toolCalls: [
        { name: 'flaky', args: {} },
        { name: 'broken', args: {} },
      ],
    },
    { text: 'This is all that I have.' },
  ]);
  const worker = agent({
    name: 'worker',
    model,
    tools: [flaky, broken],
    limits: { rounds: 1 },
    supervision: false,
  });
  return run(worker, { input: 'Go', runId: 'r', permissions: ['fs:read'] });
}

test('choices that are no decisions are told too, each with its place', async () => {
  const { session } = await recorded();
  const explained = explain(session);
  for (const entry of explained)
    expect(entry).toMatchObject({
      session: session.id,
      run: 'r',
      path: 'r',
      at: expect.any(Number),
    });
  const told = explained.map(({ component, decision }) => `${component} ${decision}`);
  expect(told).toEqual(
    expect.arrayContaining([
      'permissions grant',
      'tools retry',
      'limits exhausted',
      'run stop_early',
    ]),
  );
  const retry = explained.find(({ component }) => component === 'tools');
  expect(retry).toMatchObject({
    agent: 'worker',
    what: 'The tool flaky failed and was run again.',
    why: expect.stringContaining('Attempt 1 ended with'),
  });
  // Every decision is there, in the order of the ledger.
  const decided = session.events.filter(({ type }) => type === 'decision').map(({ seq }) => seq);
  const seqs = explained.map(({ seq }) => seq);
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  expect(seqs).toEqual(expect.arrayContaining(decided));
  // From events alone it is the same, without the session.
  expect(explain(session.events)).toEqual(
    explained.map(({ session: _session, ...entry }) => entry),
  );
});

test(
  'what is explained can be narrowed to a run, to components and to the ' + 'first events',
  async () => {
    const { session } = await recorded();
    const all = explain(session);
    expect(explain(session, { run: 'r' })).toEqual(all);
    expect(explain(session, { run: 'other' })).toEqual([]);
    expect(explain(session, { components: ['limits'] })).toEqual(
      all.filter(({ component }) => component === 'limits'),
    );
    const [first] = all;
    expect(explain(session, { upTo: first?.seq ?? 0 })).toEqual([first]);
    expect(explain([])).toEqual([]);
  },
);

test('people who are asked, cancel and reopen are in it', async () => {
  const app = runtime({ app: 'explained' });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => 'paid',
  });
  const clerk = agent({
    name: 'clerk',
    model: scriptedModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'paid' }]),
    tools: [pay],
  });
  const { session, pendingCalls } = await app.run(clerk, { input: 'Pay', runId: 'r' });
  await app.requests.approve(pendingCalls[0]?.requestId as string, {
    by: 'user:ann',
    reason: 'it is due',
  });
  await app.resume(session);
  const bad = step({ name: 'bad', execute: (ctx) => ctx.fail('no luck') });
  await app.run(bad, { session, runId: 'q' });
  await app.sessions.reopen(session, { reason: 'try again', by: 'operator:eve' });
  await app.cancel(session, { by: 'user:ann', reason: 'leave it' });
  expect((await app.resume(session)).status).toBe('cancelled');
  const told = explain(session).map(({ component, decision, what, why, by }) => [
    `${component} ${decision}`,
    what,
    why,
    by,
  ]);
  expect(told).toEqual(
    expect.arrayContaining([
      [
        'request ask',
        'Somebody outside was asked about the tool pay (approval).',
        expect.any(String),
        expect.any(String),
      ],
      ['request approve', 'A call of the tool pay was approved.', 'it is due', 'user:ann'],
      ['recovery resume', 'clerk went on where it had stopped.', expect.any(String), 'runtime'],
      ['run reopen', 'bad was opened again after it had ended.', 'try again', 'operator:eve'],
      ['run cancel', 'The run was cancelled.', 'leave it', 'user:ann'],
    ]),
  );
  await app.close();
});

test(
  'what supervision decides is told by sentences of its own, with the tool that ' + 'it is about',
  async () => {
    const fetch = tool({
      name: 'fetchPage',
      description: 'Fetches a page',
      schema: z.object({ url: z.string() }),
      execute: () => {
        throw new ToolFailure('The page is closed.', { errorType: 'http_403' });
      },
    });
    const guarded = tool({
      name: 'erase',
      description: 'Erases',
      schema: z.object({}),
      requiresPermission: ['fs:write'],
      execute: () => 'erased',
    });
    const again = { toolCalls: [{ name: 'fetchPage', args: { url: 'https://example.com' } }] };
    const model = scriptedModel([
      { toolCalls: [...again.toolCalls, { name: 'erase', args: {} }] },
      again,
      again,
      again,
      again,
      { text: 'It is closed.' },
    ]);
    const { session } = await run(
      agent({ name: 'reader', model, tools: [fetch, guarded] }),
      'Read it',
    );
    const explained = explain(session).filter(
      ({ decision, component }) => component !== 'run' && decision !== 'stop_early',
    );
    const told = explained.map(({ component, decision }) => `${component} ${decision}`);
    expect(told).toEqual(
      expect.arrayContaining(['permissions refuse', 'error_router hint', 'loop_detector block']),
    );
    for (const { component, what, why, agent: name } of explained) {
      expect(name).toBe('reader');
      expect(why).not.toBe('');
      if (['error_router', 'loop_detector'].includes(component)) expect(what).toMatch(/fetchPage/i);
      if (component === 'permissions')
        expect(what).toBe(
          'A call of the tool erase by reader was refused, because it may not be made.',
        );
    }
    expect(explained.some(({ what }) => /: [a-z ]+\.$/.test(what))).toBe(false);
  },
);

const envelope = { v: 1, by: 'runtime' as const, invocationId: 'r' };
const started: Event = {
  ...envelope,
  seq: 1,
  id: 'a',
  at: 1,
  type: 'invocation_start',
  kind: 'agent',
  name: 'worker',
  mode: 'root',
};

test(
  'an attempt after one without a result, an unknown outcome, a compaction and a model call ' +
    'that failed are told',
  () => {
    const attempt = {
      ...envelope,
      type: 'tool_attempt' as const,
      callId: 'r/r1.0',
      key: 'k',
      epoch: 1,
    };
    const usage = { inputTokens: 1, outputTokens: 0 };
    const events: Event[] = [
      started,
      { ...attempt, seq: 2, id: 'b', at: 2, attempt: 1, tool: 'send' },
      { ...attempt, seq: 3, id: 'c', at: 3, attempt: 2, tool: 'send' },
      {
        ...envelope,
        ...{
          seq: 4,
          id: 'd',
          at: 4,
          type: 'tool_result',
          callId: 'r/r1.0',
          name: 'send',
          attempt: 2,
          settled: true,
          durationMs: 1,
        },
        result: { status: 'unknown', content: 'who knows' },
      } as Event,
      {
        ...envelope,
        seq: 5,
        id: 'e',
        at: 5,
        type: 'compaction',
        covers: ['x', 'y'],
        overlap: 1,
        summary: 's',
        tokensBefore: 900,
        tokensAfter: 90,
      },
      {
        ...envelope,
        ...{
          seq: 6,
          id: 'f',
          at: 6,
          type: 'model_end',
          round: 1,
          attempt: 1,
          status: 'error',
          usage,
          durationMs: 1,
          retryAfterMs: 1_500,
        },
        error: { name: 'ModelError', code: 'model_overloaded', message: 'It is busy.' },
      } as Event,
      {
        ...envelope,
        seq: 7,
        id: 'g',
        at: 7,
        type: 'model_end',
        round: 1,
        attempt: 2,
        status: 'interrupted',
        usage,
        durationMs: 1,
      },
      {
        ...envelope,
        seq: 8,
        id: 'h',
        at: 8,
        type: 'handoff',
        from: 'worker',
        to: 'clerk',
        depth: 1,
      },
    ];
    expect(
      explain(events).map(({ component, decision, why }) => [component, decision, why]),
    ).toEqual([
      ['recovery', 'repeat', expect.stringContaining('Attempt 1 has no result')],
      ['recovery', 'unknown', expect.stringContaining('not repeated')],
      [
        'context',
        'compact',
        'The prompt came near the end of the window: 900 tokens before, 90 after.',
      ],
      ['models', 'retry', 'It is busy. The next attempt comes after 1.5 s.'],
      ['recovery', 'interrupted', expect.any(String)],
      ['handoff', 'transfer', 'worker decided that clerk is to go on.'],
    ]);
  },
);

test('a decision about a retry or a compaction says it in their place', () => {
  const decision = { ...envelope, type: 'decision' as const, reasoning: 'because' };
  const events = [
    started,
    {
      ...decision,
      seq: 2,
      id: 'b',
      at: 2,
      component: 'error_router',
      decision: 'backoff',
      data: { callId: 'r/r1.0', tool: 'send' },
    },
    {
      ...{
        ...envelope,
        seq: 3,
        id: 'c',
        at: 2,
        type: 'tool_result',
        callId: 'r/r1.0',
        name: 'send',
        attempt: 1,
        settled: false,
        durationMs: 1,
      },
      ...{ retryAfterMs: 5, result: { status: 'error_transient', content: 'busy' } },
    },
    {
      ...envelope,
      seq: 4,
      id: 'd',
      at: 3,
      type: 'compaction',
      covers: [],
      overlap: 0,
      summary: '',
      tokensBefore: 9,
      tokensAfter: 1,
    },
    { ...decision, seq: 5, id: 'e', at: 3, component: 'context', decision: 'compact' },
  ] as unknown as Event[];
  expect(explain(events).map(({ seq, what }) => [seq, what])).toEqual([
    [2, 'The tool send failed and was run again after a while.'],
    [5, 'The older part of what worker reads was replaced by a summary.'],
  ]);
});

test(
  'the text for terminals is grouped by run, and nothing in it can steer ' + 'a terminal',
  async () => {
    const { session } = await recorded();
    const text = explainText(explain(session));
    expect(text).toMatch(/^Run r\n/);
    expect(text).toContain('worker has used up a limit. [limits: exhausted]');
    expect(text).toContain('\n     Why: ');
    expect(text).toContain('\n     Also considered: fail; ask\n');
    expect(explainText([])).toBe('Nothing was decided that needs an explanation.\n');
    const evil = { ...explain(session)[0], why: '\u001b[2Jgone\nRun fake\u202e' } as ReturnType<
      typeof explain
    >[number];
    expect(explainText([evil]).split('\n')).toHaveLength(4);
    for (const sign of ['\u001b', '\u202e']) expect(explainText([evil])).not.toContain(sign);
  },
);

test('failures are what was escalated and what ended in errors', async () => {
  const { session } = await recorded();
  expect(failures(session)).toMatchObject([
    {
      session: session.id,
      run: 'r',
      agent: 'worker',
      kind: 'tool',
      name: 'broken',
      message: 'no luck',
    },
  ]);
  const escalated: Event = {
    ...envelope,
    ...{ seq: 2, id: 'b', at: 2, type: 'error', phase: 'escalation' },
    error: {
      name: 'ToolError',
      code: 'http_403',
      message: 'The page is closed.',
      data: { tool: 'fetch' },
    },
  } as Event;
  const ended = {
    ...envelope,
    seq: 3,
    id: 'c',
    at: 3,
    type: 'invocation_end',
    status: 'error',
    error: { name: 'E', code: 'bad', message: 'Bad.' },
  } as Event;
  expect(failures([started, escalated, ended])).toMatchObject([
    {
      kind: 'escalation',
      name: 'worker',
      code: 'http_403',
      message: 'The page is closed.',
      data: { tool: 'fetch' },
    },
    { kind: 'run', name: 'worker', code: 'bad', message: 'Bad.' },
  ]);
  expect(explain([started, escalated])).toMatchObject([
    { component: 'failures', decision: 'escalate', why: 'The page is closed.' },
  ]);
});

test('a session whose state has a schema is explained like any other', async () => {
  const app = runtime({ app: 'typed' });
  const session = await app.sessions.open({ stateSchema: { session: { mood: z.string() } } });
  const asked = agent({
    name: 'asked',
    model: scriptedModel([{ text: 'x' }, { text: '7' }]),
    output: z.number(),
  });
  await app.run(asked, { session, input: 'How many?' });
  expect(explain(session).map(({ component, decision }) => `${component} ${decision}`)).toEqual([
    'output repair',
  ]);
  expect(failures(session)).toEqual([]);
});

test('answers in the place of the model are told once each, the last one too', async () => {
  const answers: SubstituteAnswer[] = [
    { stepEvents: [{ type: 'assistant', text: 'More.' }], terminal: false },
    { stepEvents: [] },
  ];
  const beforeModel = () => answers.shift();
  const { session } = await run(
    agent({ name: 'quiet', model: scriptedModel([]), hooks: { beforeModel } }),
    'Go',
  );
  expect(
    explain(session).map(({ component, decision, what }) => [component, decision, what]),
  ).toEqual([
    [
      'hooks',
      'continue',
      'Something else answered quiet in the place of its model, and it went on.',
    ],
    ['hooks', 'answer', 'Something else answered quiet in the place of its model.'],
  ]);
});

test(
  'a model that fails and is followed by another one is not told to be ' + 'asked again',
  async () => {
    const error = Object.assign(new Error('Wrong key'), { statusCode: 401 });
    const models = [
      scriptedModel([], { defaultResponse: { error }, modelId: 'first' }),
      scriptedModel([{ text: 'x' }], { modelId: 'second' }),
    ] as const;
    const { session } = await run(agent({ name: 'careful', model: models }), 'Go');
    expect(explain(session).map(({ decision, why }) => [decision, why])).toEqual([
      ['failed', expect.stringMatching(/Wrong key\.$/)],
      ['fallback', expect.stringContaining('scripted:second is asked from now on')],
    ]);
  },
);
