import { expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../in-memory-app.ts';
import type { Event } from '../ledger/event.ts';
import { agent } from '../runnables/agent.ts';
import { step } from '../runnables/step.ts';
import { runtime } from '../runtime.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { ToolFailure } from '../tools/errors.ts';
import { tool } from '../tools/tool.ts';
import { explain } from './explain.ts';
import { explainText } from './explain-text.ts';
import { failures } from './failures.ts';

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
    retry: { attempts: 2, initialDelayMs: 1 },
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

test('what is explained can be narrowed to a run, to components and to the first events', async () => {
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
});

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

test('questions of steps are told by their names, and not as tools', async () => {
  const publish = step({
    name: 'publish',
    execute: async (ctx) => {
      const { approved } = await ctx.ask('release', { message: 'Publish it?', approval: true });
      const title = approved ? await ctx.ask('title', 'Which title?') : 'none';
      return ctx.complete(title);
    },
  });
  const app = runtime({ app: 'news' });
  const first = await app.run(publish);
  await app.requests.approve(first.pendingApprovals[0]?.requestId as string, { by: 'ann' });
  const second = await app.resume(publish, first.session);
  await app.requests.answer(second.pendingCalls[0]?.requestId as string, { input: 'Our year' });
  const { session } = await app.resume(publish, first.session);
  expect(explain(session).map(({ what }) => what)).toEqual([
    'The question "release" was put to somebody outside.',
    'The question "release" was answered with yes.',
    'publish went on where it had stopped.',
    'The question "title" was put to somebody outside.',
    'The question "title" was answered.',
    'publish went on where it had stopped.',
  ]);
});

test('what supervision decides is told by sentences of its own, with the tool that it is about', async () => {
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
});

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

test('the text for terminals is grouped by run, and nothing in it can steer a terminal', async () => {
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
});

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
