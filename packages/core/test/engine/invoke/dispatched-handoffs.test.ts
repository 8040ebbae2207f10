import { agent, memoryStore, type Runtime, runtime, type Session, step, tool } from 'adjutant';
import { eventually, roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** A step that dispatches an agent, which hands over to one that asks for leave; and then waits. */
function desk() {
  const paid: number[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: true,
    execute: ({ args }) => paid.push(args.cents),
  });
  const clerk = agent({
    name: 'clerk',
    model: roundModel([{ toolCalls: [{ name: 'pay', args: { cents: 5 } }] }, { text: 'Paid.' }]),
    tools: [pay],
  });
  const triage = agent({
    name: 'triage',
    model: roundModel([{ toolCalls: [{ name: 'transfer_to_clerk', args: {} }] }]),
    handoffs: [clerk],
  });
  const outer = step({
    name: 'outer',
    execute: async (ctx) => {
      ctx.dispatch(triage, { key: 'work', message: 'Pay it' });
      return ctx.complete(await ctx.ask('title', 'Which title?'));
    },
  });
  const store = memoryStore();
  const start = (): Runtime =>
    runtime({ app: 'desk', store, runnables: [outer, triage, clerk], recover: 'manual' });
  return { outer, paid, start };
}

const requestId = ({ ledger }: Session, name: string): string =>
  [...ledger.requests.values()].find((request) => request.name === name)?.requestId ?? '';

test('an end of the step that dispatched it leaves the question of an agent handed over to', async () => {
  const { outer, paid, start } = desk();
  const app = start();
  const { session } = await app.run(outer, { session: 's', runId: 'run' });
  await eventually(() => requestId(session, 'pay') !== '', { what: 'the question' });
  const asked = requestId(session, 'pay');
  await app.requests.answer(requestId(session, 'title'), { input: 'Our year' });
  expect(await app.resume(outer, session)).toMatchObject({
    status: 'completed',
    output: 'Our year',
  });
  expect(session.pendingYieldingCalls).toMatchObject([{ name: 'pay', requestId: asked }]);
  await app.requests.approve(asked);
  await app.resume(outer, session);
  await eventually(() => paid.length > 0, { what: 'the payment' });
  expect(paid).toEqual([5]);
});

test('a cancelled run ends each invocation once, agents handed over to by dispatched ones too', async () => {
  const { outer, paid, start } = desk();
  await start().run(outer, { session: 's', runId: 'run' });
  const app = start();
  await app.cancel('s', { by: 'operator:jo' });
  const { session, status } = await app.resume(outer, 's');
  expect(status).toBe('cancelled');
  const ends = session.events.flatMap((event) =>
    event.type === 'invocation_end' ? [event.invocationId] : [],
  );
  expect(ends.toSorted()).toEqual(['run', 'run/title', 'run/work', 'run/work>clerk']);
  expect(paid).toEqual([]);
});
