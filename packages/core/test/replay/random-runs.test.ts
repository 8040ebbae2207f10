import {
  agent,
  memoryStore,
  parallel,
  type Runnable,
  runtime,
  sequence,
  step,
  tool,
} from 'adjutant';
import { recordedLedgerOf } from 'adjutant/replay';
import { crashingStore, openInvocations, roundModel, takingOver } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { problemOf } from './recorded-runs.ts';

type Tree =
  | {
      readonly kind: 'agent';
      readonly calls: readonly number[];
      readonly recovery: 'rerun' | 'report';
    }
  | {
      readonly kind: 'step';
      readonly writes: number;
      readonly effect: boolean;
      readonly child: Tree | undefined;
    }
  | { readonly kind: 'sequence' | 'parallel'; readonly parts: readonly Tree[] };

const { tree } = fc.letrec<{ tree: Tree; leaf: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'tree' },
    tie('leaf'),
    fc.record({
      kind: fc.constantFrom('sequence' as const, 'parallel' as const),
      parts: fc.array(tie('tree'), { minLength: 1, maxLength: 3, depthIdentifier: 'tree' }),
    }),
    fc.record({
      kind: fc.constant('step' as const),
      writes: fc.nat(9),
      effect: fc.boolean(),
      child: tie('tree'),
    }),
  ),
  leaf: fc.oneof(
    fc.record({
      kind: fc.constant('agent' as const),
      calls: fc.array(fc.nat(2), { maxLength: 3 }),
      recovery: fc.constantFrom('rerun' as const, 'report' as const),
    }),
    fc.record({
      kind: fc.constant('step' as const),
      writes: fc.nat(9),
      effect: fc.boolean(),
      child: fc.constant(undefined),
    }),
  ),
}));

/** A runnable of that form; names are places in the tree. */
function made(of: Tree, name = 'n'): Runnable {
  switch (of.kind) {
    case 'agent': {
      const rounds = of.calls.map((count) => ({
        text: `of ${count}`,
        toolCalls: Array.from({ length: count }, (_, n) => ({ name: 'work', args: { n } })),
      }));
      const work = tool({
        name: 'work',
        description: 'Works',
        schema: z.object({ n: z.number() }),
        recovery: of.recovery,
        execute: ({ args, state }) => {
          state[`${name} ${args.n}`] = true;
          return args.n;
        },
      });
      return agent({
        name,
        model: roundModel([
          ...rounds.filter(({ toolCalls }) => toolCalls.length > 0),
          { text: 'done' },
        ]),
        tools: [work],
        output: name,
      });
    }
    case 'step':
      return step({
        name,
        execute: async (ctx) => {
          ctx.state[name] = of.writes;
          if (of.effect)
            ctx.state[`${name} seen`] = await ctx.effect('look', () => of.writes, {
              recovery: 'rerun',
            });
          if (of.child !== undefined) await ctx.call(made(of.child, `${name}c`), { key: 'child' });
          ctx.complete(of.writes);
        },
      });
    case 'parallel':
      return parallel({
        name,
        runnables: of.parts.map((part, index) => made(part, `${name}${index}`)),
      });
    default:
      return sequence({
        name,
        runnables: of.parts.map((part, index) => made(part, `${name}${index}`)),
      });
  }
}

test('whatever is run, and wherever it stops, does what it did', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.array(
        fc.record({
          number: fc.integer({ min: 1, max: 8 }),
          when: fc.constantFrom('before' as const, 'after' as const),
        }),
        { maxLength: 3 },
      ),
      async (shape, stops) => {
        const store = memoryStore();
        for (const { number, when } of stops) {
          const crashing = crashingStore(takingOver(store), number, when);
          const root = made(shape);
          const app = runtime({
            app: 'random',
            recover: 'manual',
            store: crashing.store,
            runnables: [root],
          });
          const session = await Promise.race([app.sessions.open({ id: 's' }), crashing.crashed]);
          if (session === undefined) continue;
          const isBegun = openInvocations(session.events).length > 0;
          const isOver = session.events.length > 0 && !isBegun;
          if (isOver) break;
          const run = isBegun
            ? app.resume(session)
            : app.run(root, { session, input: 'Go', runId: 'run' });
          await Promise.race([Promise.resolve(run).catch(() => undefined), crashing.crashed]);
        }
        const root = made(shape);
        const app = runtime({
          app: 'random',
          recover: 'manual',
          store: takingOver(store),
          runnables: [root],
        });
        const { session } = await app.run(root, { session: 's', input: 'Go', runId: 'run' });
        // People are asked about acts that may have happened twice; all else has ended.
        expect(
          openInvocations(session.events).length === 0 || session.ledger.requests.size > 0,
        ).toBe(true);
        expect(
          await problemOf(
            recordedLedgerOf(session),
            runtime({ app: 'random', recover: 'manual', runnables: [made(shape)] }),
          ),
        ).toBeUndefined();
      },
    ),
    { numRuns: 60 },
  );
});
