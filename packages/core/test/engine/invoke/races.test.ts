import { memoryStore, runtime, type StepContext, step } from 'adjutant';
import { takingOver } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';

/**
 * Runs a step whose race is decided by `first` in one process, and continues it in a second one, in
 * which `second` has its outcome at once.
 */
async function continuedRace(
  race: (ctx: StepContext, second: () => Promise<string> | string) => Promise<string>,
): Promise<readonly string[]> {
  const store = memoryStore();
  const never = new Promise<never>(() => undefined);
  const decided: string[] = [];
  const racing = (second: () => Promise<string> | string, last: () => unknown) =>
    step({
      name: 'racing',
      execute: async (ctx) => {
        decided.push(await race(ctx, second));
        await ctx.effect('last', last as () => string, { recovery: 'rerun' });
      },
    });
  const begun = Promise.withResolvers<void>();
  const runnable = racing(
    () => never,
    () => {
      begun.resolve();
      return never;
    },
  );
  const first = runtime({ app: 'races', store, runnables: [runnable], recover: 'manual' });
  const run = first.run(runnable, { session: 's' });
  await begun.promise;
  run.stop();
  await Promise.resolve(run).catch(() => undefined);
  const again = racing(
    () => 'second',
    () => 'done',
  );
  const other = runtime({
    app: 'races',
    store: takingOver(store),
    runnables: [again],
    recover: 'manual',
  });
  expect((await other.resume('s')).status).toBe('completed');
  return decided;
}

describe('a race is decided again as it was', () => {
  test('between effects', async () => {
    const decided = await continuedRace((ctx, second) =>
      Promise.race([
        ctx.effect('second', second, { recovery: 'rerun' }),
        ctx.effect('first', () => 'first'),
      ]),
    );
    expect(decided).toEqual(['first', 'first']);
  });

  test('between children', async () => {
    const child = (name: string, work: () => Promise<string> | string) =>
      step({ name, execute: async (ctx) => ctx.complete(await work()) });
    const decided = await continuedRace(async (ctx, second) => {
      const { output } = await Promise.race([
        ctx.call(child('second', second)),
        ctx.call(child('first', () => 'first')),
      ]);
      return output as string;
    });
    expect(decided).toEqual(['first', 'first']);
  });
});
