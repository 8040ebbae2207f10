import { expect, test } from 'vitest';
import { run, session } from '../../in-memory-app.ts';
import { step } from '../../runnables/step.ts';

test(
  'a dispatched child that is under way is not started again by the next run on ' + 'the session',
  async () => {
    const gate = Promise.withResolvers<void>();
    const letters: string[] = [];
    const mail = step({
      name: 'mail',
      execute: async (ctx) => {
        letters.push(ctx.input?.message ?? '');
        await gate.promise;
        return ctx.complete('sent', 'mail');
      },
    });
    const office = await session('office');
    const sent = new Promise<void>((resolve) => office.onStateChange(() => resolve()));
    await run(
      step({ name: 'work', execute: (ctx) => void ctx.dispatch(mail, { message: 'hello' }) }),
      { session: office },
    );
    const other = await run(step({ name: 'other', execute: (ctx) => ctx.complete('other') }), {
      session: office,
    });
    expect(other.output).toBe('other');
    gate.resolve();
    await sent;
    expect(letters).toEqual(['hello']);
    expect(
      office.events.filter(
        (event) => event.type === 'invocation_end' && event.invocationId.includes('/mail'),
      ),
    ).toHaveLength(1);
  },
);

test('a run goes on when a child that an earlier run dispatched ends meanwhile', async () => {
  const mailGate = Promise.withResolvers<void>();
  const office = await session('office');
  const mail = step({ name: 'mail', execute: () => mailGate.promise });
  await run(step({ name: 'work', execute: (ctx) => void ctx.dispatch(mail) }), { session: office });
  const { epoch } = office.ledger.lease;
  const other = step({
    name: 'other',
    execute: async (ctx) => {
      mailGate.resolve();
      await ctx.call(step({ name: 'inner', execute: () => undefined }));
      return ctx.complete(office.ledger.lease.epoch);
    },
  });
  const result = await run(other, { session: office });
  expect(result.output).toBe(epoch);
});
