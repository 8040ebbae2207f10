import { runtime, step } from 'adjutant';
import { EffectUnknownError } from 'adjutant/errors';
import { expect, test } from 'vitest';

const work = step({
  name: 'work',
  execute: async (ctx) => {
    const paid = await ctx.effect('pay', ({ attempt }) => `paid at attempt ${attempt}`);
    return ctx.complete(paid);
  },
});

test('a stand-in gets the attempt of an effect, and its result counts', async () => {
  const calls: unknown[] = [];
  const app = runtime({
    app: 'effects',
    ports: {
      standIns: {
        effect: ({ attempt, callId, idempotencyKey, session, signal }, run) => {
          calls.push({
            attempt,
            callId,
            session,
            hasKey: idempotencyKey.length > 0,
            isAborted: signal.aborted,
          });
          return `${run()} by a stand-in`;
        },
      },
    },
  });
  const result = await app.run(work, { session: 's', runId: 'run' });
  expect(result).toMatchObject({ status: 'completed', output: 'paid at attempt 1 by a stand-in' });
  expect(calls).toEqual([
    { attempt: 1, callId: 'run/pay', session: 's', hasKey: true, isAborted: false },
  ]);
  await app.close();
});

test('the exception of a stand-in counts as that of the effect', async () => {
  const app = runtime({
    app: 'effects',
    ports: {
      standIns: {
        effect: () => {
          throw new Error('The connection was lost.', { cause: { code: 'ECONNRESET' } });
        },
      },
    },
  });
  const result = await app.run(work, { session: 's' });
  expect(result).toMatchObject({ status: 'error', error: { code: 'effect_unknown' } });
  expect(EffectUnknownError.name).toBe(result.error?.name);
  await app.close();
});

test('a stand-in that is no function is refused', () => {
  const standIns = { effect: 'paid' } as never;
  expect(() => runtime({ app: 'effects', ports: { standIns } })).toThrow(/effect/);
});
