import { runtime, step } from 'adjutant';
import { graph, graphMermaid, graphViews } from 'adjutant/plan';
import { expect, test } from 'vitest';

const check = step({
  name: 'check',
  execute: (ctx) => {
    const n = Number(ctx.state['n'] ?? 0) + 1;
    ctx.state.update({ n });
    return ctx.complete(n);
  },
});
const repair = step({ name: 'repair', execute: (ctx) => ctx.complete('repaired') });
const ship = step({ name: 'ship', execute: (ctx) => ctx.fail('no ship') });
const wait = step({ name: 'wait', execute: async (ctx) => ctx.complete(await ctx.ask('q', '?')) });
const line = graph({
  name: 'line',
  nodes: { check, repair, ship, wait },
  edges: [
    { from: 'check', to: 'ship', when: (n) => n > 1, label: 'good "enough"' },
    { from: 'check', to: 'repair', otherwise: true },
    { from: 'repair', to: 'check', max: 3 },
    { from: 'ship', to: 'wait', error: 'step_failed' },
  ],
  start: 'check',
});

test('a graph is drawn before it runs', () => {
  expect(graphMermaid(line).split('\n').slice(0, 10)).toEqual([
    'flowchart TB',
    '  s1(( )) --> n1',
    '  n1["check"]:::idle',
    '  n2["repair"]:::idle',
    '  n3["ship"]:::idle',
    '  n4["wait"]:::idle',
    '  n1 -->|"good #34;enough#34;"| n3',
    '  n1 -->|"otherwise"| n2',
    '  n2 -->|"at most 3"| n1',
    '  n3 -.->|"error: step_failed"| n4',
  ]);
  expect(graphMermaid(line, { direction: 'LR' })).toMatch(/^flowchart LR\n/);
});

test('a run is drawn with the ways taken, from its events alone', async () => {
  const { session } = await runtime({ app: 'views' }).run(line);
  const [view, ...others] = graphViews(session.events);
  expect(others).toEqual([]);
  expect(view?.status).toBe('yielded');
  expect(view?.nodes.map(({ id, status, executions }) => [id, status, executions.length])).toEqual([
    ['check', 'completed', 2],
    ['repair', 'completed', 1],
    ['ship', 'error', 1],
    ['wait', 'yielded', 1],
  ]);
  expect(view?.edges.map(({ from, to, taken }) => [from, to, taken])).toEqual([
    ['check', 'ship', 1],
    ['check', 'repair', 1],
    ['repair', 'check', 1],
    ['ship', 'wait', 1],
  ]);
  const drawn = graphMermaid(view as NonNullable<typeof view>);
  expect(drawn).toContain('n1["✓ check<br/>2 times"]:::completed');
  expect(drawn).toContain('n2 ==>|"1 of 3"| n1');
  expect(drawn).toContain('n4["○ wait"]:::waiting');
  expect(graphViews(session)).toEqual([view]);
});

test('every prefix of a run can be viewed', async () => {
  const { session } = await runtime({ app: 'views' }).run(line);
  for (let length = 0; length <= session.events.length; length++) {
    const views = graphViews(session.events.slice(0, length));
    for (const view of views) expect(graphMermaid(view)).toMatch(/^flowchart/);
  }
});

test('refuses other sources and options', () => {
  expect(() => graphViews(7 as never)).toThrow('graphViews() cannot be set up');
  expect(() => graphMermaid(line, { direction: 'UP' } as never)).toThrow("one of 'TB', 'LR'");
});
