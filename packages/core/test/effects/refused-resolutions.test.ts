import { agent, memoryStore, runtime, step, tool } from 'adjutant';
import { NotResolvableError } from 'adjutant/errors';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { of } from './events-of.ts';
import { appOn, failed, reason } from './reported-effects.ts';

describe('resolveUnknown is refused', () => {
  const refusedWith = async (work: Promise<unknown>, text: string) => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(NotResolvableError);
    expect((error as Error).message).toContain(text);
  };

  test('for what the session does not have', async () => {
    const { app } = await failed(memoryStore());
    const told = app.sessions.resolveUnknown('s', 'run/refund', { happened: true });
    await refusedWith(told, 'the session has no call or effect with this id');
    await expect(
      app.sessions.resolveUnknown('gone', 'run/charge', { happened: true }),
    ).rejects.toMatchObject({ code: 'session_not_found' });
  });

  test('for an effect that has an outcome, or was told of before', async () => {
    const { app } = await failed(memoryStore());
    const tell = () => app.sessions.resolveUnknown('s', 'run/charge', { happened: true });
    await tell();
    await refusedWith(tell(), 'somebody has told it already: reopen the run, and it counts');
    await app.sessions.reopen('s', { reason });
    await app.resume('s');
    await refusedWith(tell(), 'the effect has an outcome: success');
  });

  test('for an effect that is under way, here and in another process', async () => {
    const store = memoryStore();
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<string>();
    const order = step({
      name: 'order',
      execute: async (ctx) => {
        const charge = () => {
          begun.resolve();
          return goOn.promise;
        };
        return ctx.complete(await ctx.effect('charge', charge));
      },
    });
    const holder = appOn(store, order);
    const running = holder.run(order, { session: 's', runId: 'run' });
    await begun.promise;
    const tell = (app: typeof holder) =>
      app.sessions.resolveUnknown('s', 'run/charge', { happened: true });
    await refusedWith(tell(holder), '"run" is going on here');
    await refusedWith(tell(appOn(store, order)), '"run" is going on here');
    goOn.resolve('charged');
    const { output, session } = await running;
    expect(output).toBe('charged');
    expect(of(session.events, 'decision')).toMatchObject([
      { component: 'inbox', decision: 'refuse', data: { callId: 'run/charge' } },
    ]);
  });

  test('for a step that has ended and does not run again', async () => {
    const lost = () => Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' }));
    const charge = step({
      name: 'charge',
      execute: async (ctx) => {
        await ctx.effect('card', lost);
      },
    });
    const quiet = step({
      name: 'quiet',
      execute: async (ctx) => {
        await ctx.effect('mail', lost).catch(() => undefined);
        await ctx.call(charge, { key: 'charge' }).catch(() => undefined);
      },
    });
    const app = runtime({ app: 'shop' });
    await app.run(quiet, { session: 's', runId: 'run' });
    const tell = (id: string) => app.sessions.resolveUnknown('s', id, { happened: true });
    await refusedWith(tell('run/mail'), '"run" has ended as completed, and does not run again');
    await refusedWith(tell('run/charge/card'), '"run" around it has ended as completed');
  });

  test('for an effect of a tool whose call has ended', async () => {
    const lost = () => Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' }));
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      schema: z.object({}),
      execute: (ctx) => ctx.effect('card', lost),
    });
    const payer = agent({
      name: 'payer',
      model: scriptedModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'unsure' }]),
      tools: [pay],
    });
    const app = runtime({ app: 'shop' });
    await app.run(payer, { session: 's', runId: 'run', input: 'Pay' });
    const told = app.sessions.resolveUnknown('s', 'run/r1.0/card', { happened: true });
    await refusedWith(told, 'the call "run/r1.0" has ended: tell the outcome of that call');
    await app.sessions.resolveUnknown('s', 'run/r1.0', { happened: true, result: 'paid' });
  });
});
