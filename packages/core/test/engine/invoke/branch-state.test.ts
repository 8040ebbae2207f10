import { parallel, run, step } from 'adjutant';
import { expect, test } from 'vitest';

test('a branch has none of the writes of one whose name is the beginning of its own', async () => {
  const seen: unknown[] = [];
  const first = step({
    name: 'q1',
    execute: async (ctx) => {
      ctx.state['key'] = 1;
      await ctx.effect('write', () => 'written');
      ctx.state['key'] = 2;
    },
  });
  const second = step({
    name: 'q10',
    execute: (ctx) => {
      seen.push(ctx.state['key']);
    },
  });
  const result = await run(parallel({ name: 'both', runnables: [first, second] }));
  expect(seen).toEqual([undefined]);
  expect({ ...result.session.state }).toEqual({ key: 2 });
});

test('a branch below a handoff does not begin with what was written before the handoff', async () => {
  const seen: unknown[] = [];
  const reader = step({
    name: 'reader',
    execute: (ctx) => {
      seen.push(ctx.state['key']);
    },
  });
  const inner = parallel({ name: 'inner', runnables: [reader] });
  const second = step({
    name: 'second',
    execute: async (ctx) => {
      ctx.state['key'] = 2;
      await ctx.call(inner);
    },
  });
  const first = step({
    name: 'first',
    execute: (ctx) => {
      ctx.state['key'] = 1;
      return ctx.transfer(second);
    },
  });
  const result = await run(parallel({ name: 'outer', runnables: [first] }));
  expect(seen).toEqual([2]);
  expect({ ...result.session.state }).toEqual({ key: 2 });
});
