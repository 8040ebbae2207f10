import { memoryStore, type Runtime, runtime } from 'adjutant';
import {
  type EvalOptions,
  type EvalProgress,
  type EvalReport,
  evaluate,
  rubric,
  toolTrajectory,
} from 'adjutant/eval';
import {
  crashingStore,
  keptOpen,
  type ScriptedModel,
  takingOver,
  testClock,
} from 'adjutant/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StorePlace, storePlaces } from '../store-places.ts';
import { inApp } from './evals-app.ts';
import { judge, talker } from './judges.ts';
import { cities, type Weather, weather, weatherCase } from './weather.ts';

/** Returns a report without the parts that depend on its time and its repetitions. */
function essence({ variants, passed, done }: EvalReport): unknown {
  const trials = variants.flatMap(({ name, cases }) =>
    cases.flatMap(({ id, trials: all }) =>
      all.map(({ trial, session, status, scores, turns, steps }) => ({
        name,
        id,
        trial,
        session,
        status,
        steps,
        turns,
        scores: scores.map((one) => [one.scorer, one.score]),
      })),
    ),
  );
  return { trials, passed, done };
}

interface Everything {
  readonly world: Weather;
  readonly judge: ScriptedModel;
  readonly talker: ScriptedModel;
  readonly options: (app: Runtime) => EvalOptions;
}

/** Cases of all kinds, a judge, and a simulated user. */
function everything(): Everything {
  const world = weather();
  const judging = judge('met', 1);
  const talking = talker(['Oslo']);
  return {
    world,
    judge: judging,
    talker: talking,
    options: (app) => ({
      name: 'everything',
      dataset: [
        weatherCase('Pune', { state: { mode: 'x' } }),
        { id: 'two', turns: ['Bonn', 'Rome'] },
        {
          id: 'plan',
          scenario: {
            startingPrompt: 'Lima',
            conversationPlan: 'Ask about two cities.',
            maxTurns: 5,
          },
        },
      ],
      variants: [{ name: 'v', app, runnable: world.agent }],
      scorers: [toolTrajectory(), rubric({ criteria: { kind: 'It is kind.' }, model: judging })],
      userModel: talking,
      concurrency: 1,
      runId: 'run',
    }),
  };
}

const callsOf = ({ world, judge: judging, talker: talking }: Everything): readonly number[] => [
  world.model.calls.length,
  judging.calls.length,
  talking.calls.length,
];
const sum = (counts: readonly number[]): number =>
  counts.reduce((total, count) => total + count, 0);

describe('an eval that is stopped at any append', async () => {
  const whole = everything();
  const counting = crashingStore(memoryStore());
  const expected = essence(await evaluate(whole.options(inApp(counting.store))));
  const [ofWorld, ofJudge, ofTalker] = callsOf(whole);

  test('does, whole, what it is expected to do', () => {
    expect(expected).toMatchObject({ passed: true, done: 3 });
    // Two calls for each of five messages, a verdict on each trial, and two looks of the simulated
    // user at what was answered.
    expect([ofWorld, ofJudge, ofTalker]).toEqual([10, 3, 2]);
    expect(counting.appends).toBeGreaterThan(10);
  });

  test.each(['before', 'after'] as const)(
    'goes on as if nothing had happened (%s the append landed)',
    async (when) => {
      for (let place = 1; ; place++) {
        const parts = everything();
        const store = memoryStore();
        const crashing = crashingStore(store, place, when);
        // Timers of the process that is gone must not keep this one.
        await Promise.race([
          evaluate({ ...parts.options(inApp(crashing.store)), ports: { clock: testClock() } }),
          crashing.crashed,
        ]);
        const report = await evaluate(parts.options(inApp(takingOver(store))));
        expect(essence(report), `append ${place}`).toEqual(expected);
        // A round with a tool that only reads is recorded as one: its two calls may have been made
        // in vain. Nothing that was recorded is asked again.
        expect(sum(callsOf(parts)), `append ${place}`).toBeLessThanOrEqual(sum(callsOf(whole)) + 2);
        const before = callsOf(parts);
        expect(essence(await evaluate(parts.options(inApp(takingOver(store)))))).toEqual(expected);
        expect(callsOf(parts)).toEqual(before);
        if (crashing.isGone) continue;
        expect(place).toBeGreaterThan(10);
        break;
      }
    },
    120_000,
  );
});

describe('an eval that is aborted', () => {
  test(
    'after any number of trials has what was done until then, and goes on ' + 'with the rest',
    async () => {
      for (let after = 0; after <= cities.length; after++) {
        const store = memoryStore();
        const world = weather();
        const stop = new AbortController();
        const told: EvalProgress[] = [];
        const options: EvalOptions = {
          name: 'aborted',
          dataset: cities.map((city) => weatherCase(city)),
          variants: [{ name: 'v', app: inApp(store), runnable: world.agent }],
          concurrency: 1,
          runId: 'run',
        };
        if (after === 0) stop.abort();
        const onProgress = (progress: EvalProgress): void => {
          told.push(progress);
          if (progress.type === 'trial_end' && progress.done === after) stop.abort();
        };
        const report = await evaluate({ ...options, signal: stop.signal, onProgress });
        expect([report.done, report.total]).toEqual([after, 6]);
        expect(report.finishedAt !== undefined).toBe(after === 6);
        expect(report.passed).toBe(after === 6);
        told.length = 0;
        const rest = await evaluate({ ...options, onProgress });
        expect(rest).toMatchObject({ done: 6, passed: true, startedAt: report.startedAt });
        expect(
          told.filter((progress) => progress.type === 'trial_end' && progress.recorded),
        ).toHaveLength(after);
        expect([...world.asked].sort()).toEqual([...cities].sort());
      }
    },
  );

  test(
    'in the middle of its trials gives them back, and continues them ' + 'where they are',
    async () => {
      const store = memoryStore();
      const stop = new AbortController();
      let isHeld = true;
      const held = Promise.withResolvers<void>();
      const world = weather({
        answers: (_, prompt) => {
          if (!isHeld || prompt.at(-1)?.role !== 'tool') return undefined;
          held.resolve();
          return { text: 'Late', delayMs: 3_600_000 };
        },
      });
      const options: EvalOptions = {
        name: 'held',
        dataset: cities.map((city) => weatherCase(city)),
        variants: [{ name: 'v', app: inApp(store), runnable: world.agent }],
        concurrency: 2,
        runId: 'run',
      };
      const evaluating = evaluate({ ...options, signal: stop.signal });
      await held.promise;
      stop.abort();
      expect(await evaluating).toMatchObject({ done: 0, passed: false });
      isHeld = false;
      const before = world.asked.length;
      expect(await evaluate(options)).toMatchObject({ done: 6, passed: true });
      // The tool is not asked again for answers that it had given.
      expect(before).toBeGreaterThan(0);
      expect([...world.asked].sort()).toEqual([...cities].sort());
    },
  );

  test(
    'while a judge thinks, or a simulated user, does not ask them more often ' + 'than needed',
    async () => {
      for (const who of ['judge', 'talker'] as const) {
        const parts = everything();
        const store = memoryStore();
        const stop = new AbortController();
        const asked = Promise.withResolvers<void>();
        const slow = {
          ...parts[who],
          doStream: ({ abortSignal }: Parameters<ScriptedModel['doStream']>[0]) => {
            asked.resolve();
            return neverAnswered(abortSignal);
          },
        };
        const app = inApp(store);
        const options = parts.options(app);
        const slowed: EvalOptions =
          who === 'talker'
            ? { ...options, userModel: slow }
            : { ...options, scorers: [rubric({ criteria: { kind: 'It is kind.' }, model: slow })] };
        const evaluating = evaluate({
          ...slowed,
          ...(who === 'talker' ? { only: ({ id }) => id === 'plan' } : {}),
          signal: stop.signal,
        });
        await asked.promise;
        stop.abort();
        expect(await evaluating).toMatchObject({ done: 0 });
        const report = await evaluate({
          ...options,
          ...(who === 'talker'
            ? {}
            : { scorers: [rubric({ criteria: { kind: 'It is kind.' }, model: parts.judge })] }),
        });
        expect(report).toMatchObject({ done: 3, passed: true });
        expect(callsOf(parts)).toEqual([10, 3, 2]);
      }
    },
  );
});

function neverAnswered(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) =>
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
  );
}

describe('the runs of an eval', () => {
  test(
    'that have not finished are continued when that is asked for, and otherwise ' + 'begun anew',
    async () => {
      const app = inApp(memoryStore());
      const world = weather();
      const options: EvalOptions = {
        name: 'runs',
        dataset: cities.map((city) => weatherCase(city)),
        variants: [{ name: 'v', app, runnable: world.agent }],
        concurrency: 1,
      };
      const interrupted = async (more: Partial<EvalOptions>): Promise<EvalReport> => {
        const stop = new AbortController();
        return evaluate({
          ...options,
          ...more,
          signal: stop.signal,
          onProgress: ({ type }) => type === 'trial_end' && stop.abort(),
        });
      };
      const first = await interrupted({ continue: true });
      const other = await evaluate({ ...options, name: 'other', continue: true });
      const second = await interrupted({ continue: true });
      expect(second.runId).toBe(first.runId);
      expect(other.runId).not.toBe(first.runId);
      const anew = await interrupted({});
      expect(anew.runId).not.toBe(first.runId);
      const finished = await evaluate({ ...options, continue: true });
      expect(finished).toMatchObject({ runId: anew.runId, passed: true });
      const older = await evaluate({ ...options, continue: true });
      expect(older).toMatchObject({ runId: first.runId, passed: true });
      expect([first.runId, anew.runId]).not.toContain(
        (await evaluate({ ...options, continue: true })).runId,
      );
      await expect(evaluate({ ...options, continue: true, runId: first.runId })).rejects.toThrow(
        'leave one of them out',
      );
    },
  );

  test('are listed in a store of choice', async () => {
    const lists = memoryStore();
    const world = weather();
    const options: EvalOptions = {
      name: 'listed',
      dataset: [weatherCase('Pune')],
      variants: [
        { name: 'v', open: () => ({ app: runtime({ app: 'evals' }), runnable: world.agent }) },
      ],
      store: lists,
      runId: 'run',
    };
    const first = await evaluate(options);
    const again = await evaluate(options);
    expect([again.startedAt, again.finishedAt]).toEqual([first.startedAt, first.finishedAt]);
    expect(await lists.for({ tenant: 'default', app: 'eval' }).list()).toHaveLength(1);
  });
});

describe.each(storePlaces)('two processes that run the same eval at once (%s)', (_, makePlace) => {
  let place: StorePlace;
  beforeAll(async () => {
    place = await makePlace();
  });
  afterAll(() => place.remove());

  test('share the work, and find the same', async () => {
    const shared = place.open();
    const stores = [shared, shared];
    const parts = everything();
    const apps = stores.map((store) => inApp(keptOpen(store)));
    const reports = await Promise.all(
      apps.map((app) => evaluate({ ...parts.options(app), concurrency: 3 })),
    );
    expect(essence(reports[0] as EvalReport)).toEqual(essence(reports[1] as EvalReport));
    expect(reports[0]).toMatchObject({ done: 3, passed: true });
    expect(callsOf(parts)[0]).toBe(10);
    await Promise.all(apps.map((app) => app.close()));
    await shared.close();
  }, 60_000);
});
