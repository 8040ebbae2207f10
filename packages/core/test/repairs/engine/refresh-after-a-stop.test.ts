import { memoryStore, type Runtime, runtime, type Step, step } from 'adjutant';
import { keptOpen } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { fastClock } from './fast-clock.ts';

/**
 * A step whose two branches each look at a price: `first` before it changes, the other one after
 * that.
 */
function watching(
  first: 'a' | 'b',
  between: () => Promise<void>,
  seen: string[],
  atEnd: () => Promise<void>,
): Step {
  return step({
    name: 'watch',
    execute: async (ctx) => {
      const changed = Promise.withResolvers<void>();
      const look = async (branch: 'a' | 'b'): Promise<void> => {
        if (branch !== first) await changed.promise;
        await ctx.state.refresh({ key: branch });
        seen.push(`${branch} saw ${(ctx.state['user'] as Record<string, unknown>)['price']}`);
        if (branch === first) await between().then(changed.resolve);
      };
      await Promise.all([look('a'), look('b')]);
      await ctx.effect('end', atEnd, { recovery: 'rerun' });
    },
  });
}

async function setPrice(app: Runtime, price: number): Promise<void> {
  const other = await app.sessions.open({ id: 'other', userId: 'ann' });
  (other.state['user'] as Record<string, unknown>)['price'] = price;
  await other.flush();
}

test(
  'B18: branches that refresh under a key see after a stop what they saw before, in whatever ' +
    'order they come',
  async () => {
    const store = keptOpen(memoryStore());
    const appOf = (watch: Step) =>
      runtime({
        app: 'prices',
        store,
        runnables: [watch],
        recover: 'manual',
        ports: { clock: fastClock() },
      });
    const never = (): Promise<void> => new Promise(() => {});

    const before: string[] = [];
    let stop = (): void => {};
    const firstStep: Step = watching(
      'a',
      () => setPrice(first, 2),
      before,
      () => {
        stop();
        return never();
      },
    );
    const first: Runtime = appOf(firstStep);
    await setPrice(first, 1);
    const run = first.run(firstStep, {
      session: await first.sessions.open({ id: 's', userId: 'ann' }),
      runId: 'run',
    });
    stop = () => void run.stop();
    await expect(run).rejects.toMatchObject({ code: 'run_stopped' });
    await run.settled();
    await first.close();
    expect(before).toEqual(['a saw 1', 'b saw 2']);

    const after: string[] = [];
    const second = appOf(
      watching(
        'b',
        async () => undefined,
        after,
        async () => undefined,
      ),
    );
    expect((await second.resume('s')).status).toBe('completed');
    await second.close();
    expect(after).toEqual(['b saw 2', 'a saw 1']);
  },
);

test.each(['', 'a/b', 'a#1'])('B18: %j is no key of a refresh', async (key) => {
  const body = step({ name: 'body', execute: (ctx) => ctx.state.refresh({ key }) });
  const app = runtime({ app: 'prices', runnables: [body] });
  expect(await app.run(body)).toMatchObject({ status: 'error', error: { code: 'invalid_key' } });
  await app.close();
});
