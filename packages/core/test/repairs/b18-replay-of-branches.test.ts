import { memoryStore, runtime, type Step, type StepContext, step } from 'adjutant';
import { divergenceText, keptOpen, replay } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';

type Asking = 'call' | 'spawn' | 'effect';

interface Program {
  readonly branches: readonly (readonly Asking[])[];
  /** Milliseconds that the effects take, in their order; none at all for most. */
  readonly delays: readonly number[];
}

const program: fc.Arbitrary<Program> = fc.record({
  branches: fc.array(fc.array(fc.constantFrom<Asking>('call', 'spawn', 'effect'), { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 3 }),
  delays: fc.array(fc.constantFrom(0, 0, 1, 2), { minLength: 5, maxLength: 5 }),
});

/** A step whose branches count in one key, and whose children count in another; only effects take time. */
function define({ branches, delays }: Program): readonly [Step, Step] {
  let drawn = 0;
  const work = async (): Promise<null> => {
    const ms = delays[drawn++ % delays.length] ?? 0;
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    return null;
  };
  const count = ({ state }: StepContext, key: string): void => state.update(key, (n) => Number(n ?? 0) + 1);
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
        branches.map(async (branch, b) => {
          for (const [i, how] of branch.entries()) await ask(how, `${b}-${i}`);
        }),
      );
    },
  });
  return [body, child];
}

test('B18: a run of several branches replays without a divergence, whatever came at the same moment', async () => {
  await fc.assert(
    fc.asyncProperty(program, async (given) => {
      const [body, child] = define(given);
      const app = (store = memoryStore()) => runtime({ app: 'branches', store, runnables: [body, child], recover: 'manual' });
      const recorded = await app(keptOpen(memoryStore())).run(body, { runId: 'run' });
      expect(recorded.status).toBe('completed');
      const { divergence } = await replay(recorded.session, app());
      expect(divergence === undefined ? undefined : divergenceText(divergence)).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});
