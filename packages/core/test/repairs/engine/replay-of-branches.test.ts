import { memoryStore, runtime, type Step, type StepContext, step } from 'adjutant';
import { divergenceText, replay } from 'adjutant/replay';
import { keptOpen } from 'adjutant/testing';
import { expect, test } from 'vitest';

type Asking = 'call' | 'spawn' | 'effect';

type Branch = readonly Asking[];

const askings: readonly Asking[] = ['call', 'spawn', 'effect'];
const branches: readonly Branch[] = [
  ...askings.map((how) => [how]),
  ...askings.flatMap((how) => askings.map((next) => [how, next])),
];
const pairs = branches.flatMap((one) => branches.map((other) => [one, other] as const));

/**
 * A step whose branches count in one key, and whose children count in another. Nothing takes any
 * time: all that can comes at the same moment.
 */
function define(asked: readonly Branch[]): readonly [Step, Step] {
  const work = (): null => null;
  const count = ({ state }: StepContext, key: string): void =>
    state.update(key, (n) => Number(n ?? 0) + 1);
  const child = step({
    name: 'child',
    execute: async (ctx) => {
      await ctx.effect('work', work, { recovery: 'rerun' });
      count(ctx, 'children');
    },
  });
  const body = step({
    name: 'body',
    execute: async (ctx) => {
      const ask = async (how: Asking, message: string): Promise<void> => {
        count(ctx, 'asked');
        if (how === 'effect') await ctx.effect(message, work, { recovery: 'rerun' });
        else if (how === 'call') await ctx.call(child, { message });
        else {
          const spawned = ctx.spawn(child, { message });
          count(ctx, 'spawned');
          await spawned.wait();
        }
      };
      await Promise.all(
        asked.map(async (branch, b) => {
          for (const [i, how] of branch.entries()) await ask(how, `${b}-${i}`);
        }),
      );
    },
  });
  return [body, child];
}

test(
  'B18: a run of two branches replays without a divergence when everything comes at the same ' +
    'moment',
  async () => {
    const diverged: string[] = [];
    for (const pair of pairs) {
      const [body, child] = define(pair);
      const app = (store = memoryStore()) =>
        runtime({ app: 'branches', store, runnables: [body, child], recover: 'manual' });
      const recorded = await app(keptOpen(memoryStore())).run(body, { runId: 'run' });
      expect(recorded.status).toBe('completed');
      const { divergence } = await replay(recorded.session, app());
      if (divergence !== undefined)
        diverged.push(`${pair.join(' | ')}: ${divergenceText(divergence)}`);
    }
    expect(diverged).toEqual([]);
  },
);
