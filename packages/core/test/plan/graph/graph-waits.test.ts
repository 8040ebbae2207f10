import { memoryStore, runtime, step } from 'adjutant';
import { graph } from 'adjutant/plan';
import { describe, expect, test } from 'vitest';
import { executions, gives, passes } from './nodes.ts';

test('approvals do not fill the limit of nodes that work', async () => {
  const asks = (name: string) =>
    step({ name, execute: async (ctx) => ctx.complete(await ctx.ask('q', `${name}?`)) });
  const crowded = graph({
    name: 'crowded',
    nodes: { a: asks('a'), b: asks('b'), c: gives('c', 'c') },
    edges: [],
    start: ['a', 'b', 'c'],
    limits: { parallel: 1 },
  });
  const host = runtime({ app: 'graphs', runnables: [crowded], recover: 'manual' });
  const { pendingCalls, session, status } = await host.run(crowded, { session: 's' });
  expect(status).toBe('yielded');
  expect(pendingCalls).toHaveLength(2);
  expect(executions(session.events)).toContain('c');
  for (const { requestId } of pendingCalls) await host.requests.answer(requestId, { input: 'yes' });
  expect((await host.resume('s')).output).toEqual({ a: 'yes', b: 'yes', c: 'c' });
});

describe('edge_code_edited_after_decision', () => {
  const asks = step({
    name: 'asks',
    execute: async (ctx) => ctx.complete(await ctx.ask('q', '?')),
  });
  const shaped = (when: boolean, more: boolean) =>
    graph({
      name: 'shaped',
      nodes: {
        a: gives('a', 1),
        left: asks,
        right: passes('right'),
        ...(more ? { extra: passes('extra') } : {}),
      },
      edges: [
        { from: 'a', to: 'left', when: () => when },
        { from: 'a', to: 'right', when: () => !when },
        ...(more ? ([{ from: 'a', to: 'extra' }] as never[]) : []),
      ],
      start: 'a',
    });

  test.each([
    ['another condition', false, false],
    ['another edge and node', true, true],
  ])('%s does not change a way already gone', async (_what, when, more) => {
    const store = memoryStore();
    const { pendingCalls } = await runtime({ app: 'g', store }).run(shaped(true, false), {
      session: 's',
    });
    const later = runtime({
      app: 'g',
      store,
      runnables: [shaped(when, more)],
      recover: 'manual',
    });
    await later.requests.answer(pendingCalls[0]?.requestId ?? '', { input: 'yes' });
    const { output, session } = await later.resume('s');
    expect(output).toEqual({ left: 'yes' });
    expect(executions(session.events).filter((path) => !path.includes('/'))).toEqual(['a', 'left']);
  });
});
