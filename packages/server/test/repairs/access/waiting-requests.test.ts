import { step } from 'adjutant';
import { type Clock, systemClock } from 'adjutant/ports';
import { eventually } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { world } from '../../access/caller.ts';

test(
  'A7: a request that waits for a run ends with the credential, and says nothing of the run ' +
    'any more',
  async () => {
    const waiting = Promise.withResolvers<void>();
    const clock: Clock = {
      ...systemClock,
      setTimer: (ms, task) => {
        if (ms === 54_321) waiting.resolve();
        return systemClock.setTimer(ms, task);
      },
    };
    const { app, api, keys } = world({ clock });
    const { credential, key } = await keys.create({ name: 'x', roles: ['operator'] });
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const slow = step({
      name: 'slow',
      execute: async (ctx) => {
        // An effect is durable before it begins.
        await ctx.effect('ask', async () => {
          asked.resolve();
          await answer.promise;
          return null;
        });
        return ctx.complete('A secret.');
      },
    });
    const run = app.run(slow, { session: 's', runId: 'r' });
    await asked.promise;

    const ask = (path: string) =>
      api.fetch(
        new Request(`http://localhost${path}`, {
          headers: { authorization: `Bearer ${credential}` },
        }),
      );
    let told: Response | undefined;
    void ask('/v1/sessions/s/runs/r?wait=54321').then((response) => {
      told = response;
    });
    await waiting.promise;
    await keys.revoke(key.id);
    await eventually(() => told !== undefined, { what: 'the end of the waiting' });
    expect(told?.status).toBe(401);
    expect(await told?.json()).toMatchObject({ code: 'unauthenticated' });
    answer.resolve();
    await run;
  },
);
