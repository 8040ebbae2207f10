import { runtime, step } from 'adjutant';
import { graph, router } from 'adjutant/plan';
import { replay } from 'adjutant/replay';
import { expect, test } from 'vitest';

const gives = (name: string, value: number) =>
  step({ name, effects: false, execute: (ctx) => ctx.complete(value) });

const ways = (limit: number) =>
  graph({
    name: 'ways',
    nodes: { load: gives('load', 900), pay: gives('pay', 1), ask: gives('ask', 2) },
    edges: [
      { from: 'load', to: 'pay', when: (cents) => cents < limit },
      { from: 'load', to: 'ask', otherwise: true },
    ],
    start: 'load',
  });

test('a replay of a graph finds an edited condition at the decision that it changes', async () => {
  const { session } = await runtime({ app: 'g' }).run(ways(1_000));
  const same = await replay(session, runtime({ app: 'g', runnables: [ways(1_000)] }));
  expect(same.divergence).toBeUndefined();
  const { divergence } = await replay(session, runtime({ app: 'g', runnables: [ways(500)] }));
  const edges = session.events.find(
    (event) => event.type === 'decision' && event.decision === 'edges',
  );
  expect(divergence).toMatchObject({ seq: edges?.seq });
  expect(JSON.stringify(divergence?.differences)).toContain('taken');
});

test('a replay of a graph finds another edge where the graph begins', async () => {
  const { session } = await runtime({ app: 'g' }).run(ways(1_000));
  const other = graph({
    name: 'ways',
    nodes: { load: gives('load', 900), pay: gives('pay', 1), ask: gives('ask', 2) },
    edges: [
      { from: 'load', to: 'pay' },
      { from: 'load', to: 'ask', error: true },
    ],
    start: 'load',
  });
  const { divergence } = await replay(session, runtime({ app: 'g', runnables: [other] }));
  const begin = session.events.find(
    (event) => event.type === 'decision' && event.decision === 'begin',
  );
  expect(divergence).toMatchObject({ seq: begin?.seq });
});

test('a replay of a router finds an edited rule at its choice', async () => {
  const desk = (word: string) =>
    router({
      name: 'desk',
      routes: [gives('a', 1), gives('b', 2)],
      rules: [{ to: 'a', when: [word] }],
      default: 'b',
    });
  const { session } = await runtime({ app: 'g' }).run(desk('invoice'), 'My invoice');
  const same = await replay(session, runtime({ app: 'g', runnables: [desk('invoice')] }));
  expect(same.divergence).toBeUndefined();
  const { divergence } = await replay(session, runtime({ app: 'g', runnables: [desk('bill')] }));
  const route = session.events.find((event) => event.type === 'decision');
  expect(divergence).toMatchObject({ seq: route?.seq });
  expect(JSON.stringify(divergence?.differences)).toContain('target');
});
