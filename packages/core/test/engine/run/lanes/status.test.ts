import { loop, memoryStore, runtime, step } from 'adjutant';
import { testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';

const hour = 3_600_000;

/** A session with a run that sleeps in the lane `night`, and runnables for another lane. */
async function sleeping() {
  const clock = testClock();
  const nap = step({
    name: 'nap',
    execute: async (ctx) => {
      await ctx.sleep('long', hour);
      return ctx.complete('awake');
    },
  });
  const turn = step({ name: 'turn', execute: (ctx) => ctx.complete('said') });
  const talk = loop({ name: 'talk', runnable: turn, yields: true, maxIterations: 3 });
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const work = step({
    name: 'work',
    execute: async (ctx) => {
      begun.resolve();
      await gate.promise;
      return ctx.complete('done');
    },
  });
  const app = runtime({
    app: 'lanes',
    store: memoryStore({ clock }),
    recover: 'manual',
    runnables: [nap, talk, work],
    ports: { clock },
  });
  await app.run(nap, { session: 's', input: 'Sleep', lane: 'night' });
  const statuses = async () => {
    const [listed] = (await app.sessions.list()).sessions;
    return { open: (await app.sessions.open({ id: 's' })).status, listed: listed?.status };
  };
  return { app, nap, talk, work, begun: begun.promise, finish: gate.resolve, statuses };
}

describe('the status of a session with two lanes', () => {
  test('is `sleeping` when both only sleep', async () => {
    const { app, nap, statuses } = await sleeping();
    await app.run(nap, { session: 's', input: 'Sleep' });
    expect(await statuses()).toEqual({ open: 'sleeping', listed: 'sleeping' });
    await app.close();
  });

  test.each<[string, { readonly lane?: string }]>([
    ['the default lane', {}],
    ['a lane of its own', { lane: 'talk' }],
  ])(
    'is `awaiting_input` when one sleeps, and one in %s waits for a message',
    async (_what, of) => {
      const { app, talk, statuses } = await sleeping();
      expect(await app.run(talk, { session: 's', input: 'Hi', ...of })).toMatchObject({
        status: 'yielded',
        awaitingInput: true,
      });
      expect(await statuses()).toEqual({ open: 'awaiting_input', listed: 'awaiting_input' });
      await app.cancel('s', of);
      await app.advance('s', of);
      expect(await statuses()).toEqual({ open: 'sleeping', listed: 'sleeping' });
      await app.close();
    },
  );

  test('is `active` while one sleeps and one is at work', async () => {
    const { app, work, begun, finish, statuses } = await sleeping();
    const run = app.run(work, { session: 's', input: 'Work' });
    await begun;
    expect((await statuses()).open).toBe('active');
    finish();
    expect(await run).toMatchObject({ status: 'completed' });
    expect(await statuses()).toEqual({ open: 'sleeping', listed: 'sleeping' });
    await app.close();
  });
});
