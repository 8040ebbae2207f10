import { parallel, run, runtime, step } from 'adjutant';
import { eventually } from 'adjutant/testing';
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

test('an end of the run keeps the writes of branches in the work that it has dispatched', async () => {
  const left = step({
    name: 'left',
    execute: (ctx) => {
      ctx.state['left'] = 1;
    },
  });
  const right = step({
    name: 'right',
    execute: async (ctx) => {
      await ctx.ask('leave', 'May it go on?');
      ctx.state['right'] = 2;
    },
  });
  const both = parallel({ name: 'both', runnables: [left, right] });
  const outer = step({
    name: 'outer',
    execute: async (ctx) => {
      ctx.dispatch(both, { key: 'work', message: 'Begin' });
      return ctx.complete(await ctx.ask('title', 'Which title?'));
    },
  });
  const app = runtime({ app: 'desk', runnables: [outer, both], recover: 'manual' });
  const { session } = await app.run(outer, { session: 's', runId: 'run' });
  const idOf = (name: string): string =>
    [...session.ledger.requests.values()].find((request) => request.name === name)?.requestId ?? '';
  await eventually(() => idOf('leave') !== '', { what: 'the question' });
  const leave = idOf('leave');
  await app.requests.answer(idOf('title'), { input: 'Our year' });
  await app.resume(outer, session);
  expect(session.state['left']).toBe(undefined);
  await app.requests.answer(leave, { input: 'Yes' });
  await app.resume(outer, session);
  await eventually(() => session.state['right'] !== undefined, { what: 'the join' });
  expect({ ...session.state }).toEqual({ left: 1, right: 2 });
  const { sessionState } = session.stateAt(session.events.length);
  expect(sessionState).toEqual({ left: 1, right: 2 });
  await app.close();
});
