import { isAdjutantError, memoryStore, type RunResult, runtime, type Step, step } from 'adjutant';
import { keptOpen } from 'adjutant/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';

type Asking = 'call' | 'spawn' | 'effect';

interface Program {
  /** Requests of each branch, one after the other. */
  readonly branches: readonly (readonly Asking[])[];
  /**
   * Turns of the loop or milliseconds that code takes between two questions; drawn anew in every
   * execution.
   */
  readonly delays: readonly number[];
  /** Events after which a process stops. */
  readonly stops: readonly number[];
  /**
   * True: only one branch asks at a time. Such a step accepts that another one asks first after a
   * stop.
   */
  readonly locked: boolean;
}

const program: fc.Arbitrary<Program> = fc.record({
  branches: fc.array(
    fc.array(fc.constantFrom<Asking>('call', 'spawn', 'effect'), { minLength: 1, maxLength: 3 }),
    { minLength: 2, maxLength: 3 },
  ),
  delays: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 7, maxLength: 7 }),
  stops: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 3 }),
  locked: fc.boolean(),
});

/** Waits in a step's own code between two questions, which the runtime does not see. */
async function bareAwait(delay: number): Promise<void> {
  if (delay > 1) await new Promise((resolve) => setTimeout(resolve, delay));
  else if (delay === 1) await new Promise((resolve) => setImmediate(resolve));
}

function define({ branches, delays, locked }: Program): readonly [Step, Step] {
  let drawn = 0;
  const pause = () => bareAwait(delays[drawn++ % delays.length] ?? 0);
  const worker = step({
    name: 'worker',
    execute: async (ctx) => {
      await pause();
      return ctx.complete(ctx.input?.message ?? '');
    },
  });
  const fan = step({
    name: 'fan',
    ...(locked ? { onDrift: 'accept' as const } : {}),
    execute: async (ctx) => {
      let last: Promise<unknown> = Promise.resolve();
      const inTurn = (work: () => Promise<unknown>): Promise<unknown> => {
        if (!locked) return work();
        const done = last.then(work);
        last = done.catch(() => undefined);
        return done;
      };
      const ask = async (how: Asking, message: string): Promise<unknown> => {
        if (how === 'effect') return ctx.effect(message, () => message, { recovery: 'rerun' });
        return how === 'call'
          ? (await ctx.call(worker, { message })).output
          : (await ctx.spawn(worker, { message }).wait()).output;
      };
      const outputs = await Promise.all(
        branches.map(async (branch, b) => {
          const answers: unknown[] = [];
          for (const [i, how] of branch.entries()) {
            await pause();
            answers.push(await inTurn(() => ask(how, `${b}-${i}`)));
          }
          return answers;
        }),
      );
      return ctx.complete(outputs as string[][]);
    },
  });
  return [fan, worker];
}

/**
 * Carries a program out in one process after the other; all but the last stop after some events.
 */
async function carryOut(given: Program): Promise<RunResult> {
  const store = keptOpen(memoryStore());
  const [fan, worker] = define(given);
  for (const stop of [...given.stops, Number.POSITIVE_INFINITY]) {
    const app = runtime({ app: 'fans', store, runnables: [fan, worker], recover: 'manual' });
    const session = await app.sessions.open({ id: 's' });
    const end = session.events.length + stop;
    const run =
      session.events.length === 0 ? app.run(fan, { session, runId: 'run' }) : app.resume(session);
    const forget = session.ledger.onDraft(({ seq }) => {
      if (seq >= end) run.stop();
    });
    try {
      return await run;
    } catch (error) {
      if (!isAdjutantError(error, 'run_stopped')) throw error;
    } finally {
      forget();
      await run.settled();
      await app.close();
    }
  }
  throw new Error('The run did not end.');
}

/** Checks that an effect of a run was cut off by three stops. */
function isInterruptedThrice({ session }: RunResult): boolean {
  const stops = new Map<string, number>();
  for (const event of session.events)
    if (event.type === 'tool_result' && event.result.errorType === 'interrupted')
      stops.set(event.callId, (stops.get(event.callId) ?? 0) + 1);
  return [...stops.values()].some((count) => count >= 3);
}

test(
  'B20: code that has not changed is never refused, whatever its branches await and wherever ' +
    'it stops',
  async () => {
    await fc.assert(
      fc.asyncProperty(program, async (given) => {
        const result = await carryOut(given);
        // An effect that three processes were stopped in is not run again: nothing is refused.
        if (isInterruptedThrice(result)) {
          expect([result.status, result.error?.code]).toEqual(['error', 'effect_unknown']);
          return;
        }
        const expected = given.branches.map((branch, b) => branch.map((_, i) => `${b}-${i}`));
        expect([result.status, result.output]).toEqual(['completed', expected]);
        const asked = given.branches.flat().filter((how) => how !== 'effect').length;
        expect(
          result.session.events.filter(
            (event) => event.type === 'invocation_start' && event.name === 'worker',
          ),
        ).toHaveLength(asked);
      }),
      {
        numRuns: 100,
        examples: [
          [
            {
              branches: [['call'], ['call'], ['effect']],
              delays: [2, 2, 0, 0, 3, 0, 0],
              stops: [2, 4, 3],
              locked: false,
            },
          ],
        ],
      },
    );
  },
);
