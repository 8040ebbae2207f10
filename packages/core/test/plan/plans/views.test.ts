import { agent, runtime, step, tool } from 'adjutant';
import { plan, planMermaid, planViews, type Subtask } from 'adjutant/plan';
import { scriptedModel, testClock } from 'adjutant/testing';
import { explain } from 'adjutant/views';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { dataOf } from './data-of.ts';

const work = step({
  name: 'work',
  execute: (ctx) =>
    dataOf<{ fails?: boolean }>(ctx).fails === true ? ctx.fail('It broke.') : ctx.complete('done'),
});
const pay = tool({
  name: 'pay',
  description: 'Pays.',
  schema: z.object({}),
  approval: {},
  execute: () => 'paid',
});
const first: readonly Subtask[] = [
  { id: 'a', description: 'Begin' },
  { id: 'b', description: 'Break', args: { fails: true }, critical: true, dependsOn: ['a'] },
  { id: 'c', description: 'After it', dependsOn: ['b'] },
];
const second: readonly Subtask[] = [
  { id: 'b', description: 'Go around', dependsOn: ['a'] },
  { id: 'pay', description: 'Pay "all" of it', tool: 'pay', args: {}, dependsOn: ['b'] },
  { id: 'd', description: 'End', dependsOn: ['pay'] },
];
const shop = plan({
  name: 'shop',
  planner: ({ task }) => (task === 'plan' ? first : second),
  workers: [work],
  tools: [pay],
});

test('a plan as data while it waits, when it has ended, and at any event', async () => {
  const app = runtime({ app: 'views', ports: { clock: testClock() } });
  const { session, pendingCalls } = await app.run(shop, 'Buy it');
  const [view] = planViews(session);
  expect(view).toMatchObject({
    name: 'shop',
    goal: 'Buy it',
    status: 'executing',
    progress: { completed: 2, total: 4 },
    criticalPath: ['a', 'b', 'pay', 'd'],
  });
  expect(
    view?.subtasks.map(({ id, status, key, attempts }) => [id, status, key, attempts]),
  ).toEqual([
    ['a', 'completed', 'a', 1],
    ['b', 'completed', 'b~2', 1],
    ['pay', 'waiting', 'pay', 1],
    ['d', 'blocked', 'd', 0],
  ]);
  expect(view?.revisions.map(({ revision, by, diff }) => ({ revision, by, diff }))).toEqual([
    {
      revision: 1,
      by: 'runtime',
      diff: { added: ['a', 'b', 'c'], changed: [], removed: [], kept: [] },
    },
    {
      revision: 2,
      by: 'runtime',
      diff: { added: ['pay', 'd'], changed: ['b'], removed: ['c'], kept: ['a'] },
    },
  ]);
  const seq = view?.revisions[1]?.seq ?? 0;
  const [before] = planViews(session, { at: seq - 1 });
  expect(before).toMatchObject({ status: 'replanning', progress: { completed: 1, total: 3 } });
  expect(before?.subtasks.map(({ status }) => status)).toEqual(['completed', 'failed', 'blocked']);
  expect(before?.subtasks[1]?.error?.message).toBe('It broke.');
  expect(planViews(session, { at: 2 })).toMatchObject([{ status: 'planning', subtasks: [] }]);
  await app.requests.answer(pendingCalls[0]?.requestId ?? '', { decision: 'approve', by: 'ann' });
  const { session: ended } = await app.resume(session);
  expect(planViews(ended)).toMatchObject([
    { status: 'completed', progress: { completed: 4, total: 4 } },
  ]);
  expect(planViews(ended.events)).toEqual(planViews(ended));
});

test('a plan as a diagram, before it runs and while it waits', async () => {
  expect(planMermaid(first, { direction: 'LR' })).toMatchInlineSnapshot(`
    "flowchart LR
      n1["a<br/>Begin"]:::idle
      n2["b<br/>Break"]:::idle
      n3["c<br/>After it"]:::idle
      n1 ==> n2
      n2 ==> n3
      classDef idle fill:#ffffff,stroke:#6b7280,color:#1f2937
      classDef completed fill:#dcfce7,stroke:#15803d,color:#14532d
      classDef failed fill:#fee2e2,stroke:#b91c1c,color:#7f1d1d
      classDef cancelled fill:#e5e7eb,stroke:#6b7280,color:#1f2937
      classDef waiting fill:#fef3c7,stroke:#d97706,color:#713f12
      classDef executing fill:#fef9c3,stroke:#a16207,color:#713f12"
  `);
  const { session } = await runtime({ app: 'views' }).run(shop, 'Buy it');
  const [view] = planViews(session);
  expect(view === undefined ? '' : planMermaid(view)).toMatchInlineSnapshot(`
    "flowchart TB
      n1["✓ a<br/>Begin"]:::completed
      n2["✓ b<br/>Go around"]:::completed
      n3["#9680; pay<br/>Pay #34;all#34; of it<br/>pay"]:::waiting
      n4["○ d<br/>End"]:::idle
      n1 ==> n2
      n2 ==> n3
      n3 ==> n4
      classDef idle fill:#ffffff,stroke:#6b7280,color:#1f2937
      classDef completed fill:#dcfce7,stroke:#15803d,color:#14532d
      classDef failed fill:#fee2e2,stroke:#b91c1c,color:#7f1d1d
      classDef cancelled fill:#e5e7eb,stroke:#6b7280,color:#1f2937
      classDef waiting fill:#fef3c7,stroke:#d97706,color:#713f12
      classDef executing fill:#fef9c3,stroke:#a16207,color:#713f12"
  `);
  expect(() => planMermaid([], { direction: 'RL' as 'LR' })).toThrow(/direction/);
  expect(() => planViews(session, { at: 'last' as unknown as number })).toThrow(/at/);
});

test('explain tells what a plan decided', async () => {
  const { session } = await runtime({ app: 'views' }).run(shop, 'Buy it');
  const told = explain(session, { components: ['plan'] });
  expect(told.map(({ what, why }) => [what, why])).toEqual([
    [
      'shop made another plan, because the subtask "b" had failed, which is critical.',
      'Subtask "b" failed (It broke.); it is critical, so another plan is made.',
    ],
  ]);
});

test('the budget of a subtask is stricter than the limits of its agent', async () => {
  const endless = agent({
    name: 'endless',
    model: scriptedModel(
      Array.from({ length: 9 }, (_, i) => ({ toolCalls: [{ name: 'look', args: { i } }] })),
    ),
    tools: [
      tool({
        name: 'look',
        description: 'Looks.',
        schema: z.object({ i: z.number() }),
        execute: ({ args }) => args.i,
      }),
    ],
  });
  const short = plan({
    name: 'short',
    planner: () => [{ id: 'a', description: 'Look around', budget: { rounds: 3 } }],
    workers: [endless],
  });
  const { session } = await runtime({ app: 'views' }).run(short, 'Go');
  const end = session.events.find(
    (event) => event.type === 'invocation_end' && event.invocationId.endsWith('/a'),
  );
  expect(end).toMatchObject({ stopReason: 'round_limit' });
  const rounds = session.events.filter(({ type }) => type === 'model_start').length;
  expect(rounds).toBeLessThan(6);
});
