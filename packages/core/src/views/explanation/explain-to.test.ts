import { expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../../in-memory-app.ts';
import type { Event } from '../../ledger/event.ts';
import { agent } from '../../runnables/agent.ts';
import { loop } from '../../runnables/loop.ts';
import { sequence } from '../../runnables/sequence.ts';
import { step } from '../../runnables/step.ts';
import { runtime } from '../../runtime.ts';
import { scriptedModel } from '../../testing/kit/scripted-model.ts';
import { agentTool } from '../../tools/agent-tool.ts';
import { toolResult } from '../../tools/result.ts';
import { tool } from '../../tools/tool.ts';
import { auditText } from './audit-trace.ts';
import { causalGraph, causalMermaid } from './causal-graph.ts';
import { explainTo } from './explain-to.ts';

const schema = z.object({ query: z.string() });
const search = tool({
  name: 'search',
  description: 'Searches',
  schema,
  execute: () => toolResult.success('Oil costs 70 dollars.', { confidence: 0.4 }),
});
const archive = tool({
  name: 'archive',
  description: 'Searches old pages',
  schema,
  execute: () => Promise.reject(new Error('It is closed.')),
});

function analyst() {
  const model = scriptedModel([
    {
      toolCalls: [
        { name: 'search', args: { query: 'oil' } },
        { name: 'archive', args: { query: 'oil' } },
      ],
    },
    { text: 'It costs 70 dollars.' },
  ]);
  return agent({ name: 'analyst', model, tools: [search, archive], supervision: false });
}

const asked = () => run(analyst(), { input: 'What does oil cost?', runId: 'r' });
const seqOf = (events: readonly Event[], type: Event['type'], nth = 0): number =>
  events.filter((event) => event.type === type)[nth]?.seq ?? 0;

test('an end user reads one paragraph: the answer, what it rests on, and what to doubt', async () => {
  const { session } = await asked();
  expect(explainTo('user', session)).toBe(
    'analyst came to this answer: “It costs 70 dollars.” It rests on what the tool search gave ' +
      '(“Oil costs 70 dollars.”). It is not certain: the confidence in it is 0.4 of 1. ' +
      'One thing did not work or may be doubted.',
  );
});

test('a developer gets the conclusion with its evidence, each with its place', async () => {
  const { session } = await asked();
  const { events } = session;
  const explanation = explainTo('developer', session);
  expect(explanation).toMatchObject({
    run: 'r',
    agent: 'analyst',
    status: 'completed',
    seq: events.at(-1)?.seq,
    conclusion: 'It costs 70 dollars.',
    confidence: 0.4,
    evidence: [
      { seq: seqOf(events, 'user'), source: 'message', result: 'What does oil cost?' },
      {
        source: 'tool search',
        args: { query: 'oil' },
        result: 'Oil costs 70 dollars.',
        confidence: 0.4,
      },
    ],
    limitations: [{ what: expect.stringContaining('The tool archive failed') }],
  });
  // Events alone say the same, each time.
  expect(explainTo('developer', events)).toEqual(explanation);
});

test('an auditor gets every event with its time, its words, its reason and its causes', async () => {
  const { session } = await asked();
  const { events } = session;
  const trace = explainTo('auditor', session);
  expect(trace.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq));
  expect(trace[0]).toMatchObject({ afterMs: 0, time: new Date(events[0]?.at ?? 0).toISOString() });
  const called = trace.find(({ type }) => type === 'tool_call');
  expect(called).toMatchObject({
    what: 'analyst called the tool search with {"query":"oil"}',
    detail: { query: 'oil' },
    by: 'model',
    causes: [seqOf(events, 'model_start')],
    decisive: true,
  });
  const text = auditText(trace);
  expect(text.split('\n').filter((line) => / {2}\+\d+ ms {2}/.test(line))).toHaveLength(
    events.length,
  );
  expect(text).toContain(`because of ${seqOf(events, 'model_start')}]`);
});

test('the causal graph leads from the message over calls and results to the end', async () => {
  const { session } = await asked();
  const { events } = session;
  const graph = causalGraph(session);
  const causes = (to: number) => graph.edges.filter((edge) => edge.to === to);
  const [question, first, second] = [
    seqOf(events, 'user'),
    seqOf(events, 'model_start'),
    seqOf(events, 'model_start', 1),
  ];
  expect(causes(first)).toContainEqual({ from: question, to: first, kind: 'read' });
  const results = [0, 1].map((nth) => seqOf(events, 'tool_result', nth));
  expect(causes(second).map(({ from, kind }) => [from, kind])).toEqual(
    results.map((seq) => [seq, 'read']),
  );
  const end = events.at(-1)?.seq ?? 0;
  expect(causes(end)).toEqual([{ from: seqOf(events, 'assistant'), to: end, kind: 'ended' }]);
  // Causes come before their effects, and everything but the message has one.
  for (const { from, to } of graph.edges) expect(from).toBeLessThan(to);
  for (const { seq } of graph.nodes) if (seq !== question) expect(causes(seq)).not.toEqual([]);
  const chart = causalMermaid(graph);
  expect(chart).toContain(`n${seqOf(events, 'assistant')} ==>|ended| n${end}`);
});

test('calls of agents and parts of sequences are causes of what came of them', async () => {
  const boss = agent({
    name: 'boss',
    model: scriptedModel([
      { toolCalls: [{ name: 'analyst', args: { message: 'Oil?' } }] },
      { text: '70.' },
    ]),
    tools: [agentTool(analyst())],
  });
  const last = step({ name: 'last', execute: (ctx) => ctx.complete('done') });
  const { session } = await run(sequence({ name: 'both', runnables: [boss, last] }), 'Go');
  const { edges, nodes } = causalGraph(session);
  const typeOf = new Map(nodes.map((node) => [node.seq, node]));
  const between = edges.map(({ from, to, kind }) => {
    const [cause, effect] = [typeOf.get(from), typeOf.get(to)];
    return `${cause?.type} of ${cause?.agent} ${kind} ${effect?.type} of ${effect?.agent}`;
  });
  expect(between).toContain('tool_attempt of boss started invocation_start of analyst');
  expect(between).toContain('invocation_end of analyst produced tool_result of boss');
  expect(between).toContain('invocation_end of last ended invocation_end of both');
});

test('runs that wait, fail or are chosen are told as what they are', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => 'paid',
  });
  const model = scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid.' }]);
  const clerk = agent({ name: 'clerk', model, tools: [pay] });
  const app = runtime({ app: 'explained' });
  const { session, pendingCalls } = await app.run(clerk, { input: 'Pay', runId: 'first' });
  expect(explainTo('developer', session).status).toBe('waiting');
  expect(explainTo('user', session)).toMatch(/^clerk waits for an answer: /);
  await app.requests.approve(pendingCalls[0]?.requestId ?? '', { by: 'user:ann' });
  await app.resume(session);
  expect(explainTo('developer', session).evidence.map(({ source }) => source)).toEqual([
    'message',
    'answer',
    'tool pay',
  ]);
  const bad = step({ name: 'bad', execute: (ctx) => ctx.fail('no luck') });
  await app.run(bad, { session, runId: 'second' });
  expect(explainTo('user', session)).toMatch(/^bad could not finish: “no luck”\./);
  expect(explainTo('user', session, { run: 'first' })).toMatch(/^clerk came to this answer: “Paid/);
  await app.close();
});

test('what cannot be explained is refused', async () => {
  const { session } = await asked();
  expect(() => explainTo('boss' as 'user', session)).toThrow(
    /must be one of user, developer, auditor/,
  );
  expect(() => explainTo('user', session, { run: 'other' })).toThrow(/there is no run "other"/);
  expect(() => causalGraph([])).toThrow(/no run has begun/);
  expect(() => causalGraph({} as never)).toThrow(/a session or a list of events/);
  expect(() => explainTo('user', session, { upto: 3 } as never)).toThrow(/upTo/);
});

test('text of a ledger cannot steer a terminal or a page', async () => {
  const model = scriptedModel([{ text: '\u001b[2J"]; click n1 "javascript:alert(1)"' }]);
  const { session } = await run(agent({ name: 'evil', model }), 'Go');
  const chart = causalMermaid(causalGraph(session));
  for (const text of [chart, explainTo('user', session), auditText(explainTo('auditor', session))])
    expect(text).not.toContain('\u001b');
  expect(chart).not.toContain('click n1 "');
});

test('a step that asks and sleeps is told with its open question, or its sleep', async () => {
  const app = runtime({ app: 'explained' });
  const until = new Date('2999-01-02T03:04:05Z');
  const publish = step({
    name: 'publish',
    execute: async (ctx) => {
      const title = await ctx.ask('title', 'Which title?');
      await ctx.sleep('embargo', { until });
      return ctx.complete(title);
    },
  });
  const { session, pendingCalls } = await app.run(publish);
  expect(explainTo('user', session)).toMatch(/^publish waits for an answer: “Which title\?”/);
  await app.requests.answer(pendingCalls[0]?.requestId ?? '', { input: 'Our year' });
  await app.resume(publish, session);
  expect(explainTo('developer', session)).toMatchObject({
    agent: 'publish',
    status: 'sleeping',
    conclusion: '2999-01-02T03:04:05.000Z',
  });
  expect(explainTo('user', session)).toMatch(/^publish sleeps until: “2999-01-02T03:04:05/);
  await app.close();
});

test('a run that waits for several answers names them all, oldest first', async () => {
  const app = runtime({ app: 'explained' });
  const publish = step({
    name: 'publish',
    execute: async (ctx) => {
      await Promise.all([ctx.ask('title', 'Which title?'), ctx.ask('colour', 'Which colour?')]);
    },
  });
  const { session, pendingCalls } = await app.run(publish);
  expect(explainTo('user', session)).toMatch(
    /^publish waits for 2 answers: “Which title\?” and “Which colour\?”/,
  );
  expect(explainTo('developer', session).requests).toEqual(
    pendingCalls.map(({ requestId }, index) => ({
      seq: expect.any(Number),
      requestId,
      what: ['Which title?', 'Which colour?'][index],
    })),
  );
  expect(auditText(explainTo('auditor', session))).toContain(
    'publish began to wait for an answer.',
  );
  await app.requests.answer(pendingCalls[0]?.requestId ?? '', { input: 'Our year' });
  await app.resume(publish, session);
  expect(explainTo('user', session)).toMatch(/^publish waits for an answer: “Which colour\?”/);
  await app.close();
});

test('a run that waits for a message, one that is paused, and one that was answered', async () => {
  const app = runtime({ app: 'explained', recover: 'manual' });
  const bot = agent({ name: 'bot', model: scriptedModel([{ text: 'How can I help?' }]) });
  const chat = loop({ name: 'chat', yields: true, runnable: bot });
  const { session } = await app.run(chat, 'Hi');
  expect(explainTo('user', session)).toMatch(
    /^chat waits for a message; it said last: “How can I help\?”/,
  );
  expect(explainTo('developer', session)).toMatchObject({ status: 'waiting', waitsFor: 'input' });
  const paused = session.events.map((event) =>
    event.type === 'invocation_yield' ? { ...event, reason: 'pause' as const } : event,
  );
  expect(explainTo('user', paused)).toMatch(/^chat is paused; its last step: /);

  const publish = step({
    name: 'publish',
    execute: async (ctx) => ctx.complete(await ctx.ask('title', 'Which title?')),
  });
  const asking = await app.run(publish);
  expect(explainTo('developer', asking.session)).toMatchObject({ waitsFor: 'tool_input' });
  await app.requests.answer(asking.pendingCalls[0]?.requestId ?? '', { input: 'Our year' });
  await app.resume(publish, asking.session);
  const events = asking.session.events;
  const upTo = events.find(({ type }) => type === 'tool_input')?.seq ?? 0;
  expect(explainTo('user', asking.session, { upTo })).toMatch(/^publish is still at work; /);
  await app.close();
});

test('an answer of a person is told where no tool gave anything', async () => {
  const app = runtime({ app: 'explained' });
  const publish = step({
    name: 'publish',
    execute: async (ctx) => ctx.complete(await ctx.ask('title', 'Which title?')),
  });
  const { session, pendingCalls } = await app.run(publish);
  await app.requests.answer(pendingCalls[0]?.requestId ?? '', { input: 'Our year' });
  await app.resume(publish, session);
  expect(explainTo('user', session)).toContain('It rests on what people answered: “Our year”.');
  await app.close();
});
