import { agent, memoryStore, runtime } from 'adjutant';
import {
  defineEval,
  type EvalOptions,
  type EvalProgress,
  evaluate,
  isEvalDefinition,
  toolTrajectory,
} from 'adjutant/eval';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { app, only, simple, trialsOf } from './simple-eval.ts';
import { cities, weather, weatherCase } from './weather.ts';

test('trials that wait for nothing let others be heard', async () => {
  const stopping = new AbortController();
  let turns = 0;
  const turn = (): void => {
    if (++turns === 4) stopping.abort();
    else setImmediate(turn);
  };
  // Until then it loads what it needs.
  const onProgress = ({ type }: EvalProgress): void => {
    if (type === 'trial_end' && turns === 0) turn();
  };
  const runnable = agent({
    name: 'echo',
    model: scriptedModel(() => ({ text: 'Pune' }), { record: false }),
  });
  const report = await evaluate(
    simple({
      trials: 1_000,
      signal: stopping.signal,
      onProgress,
      variants: [{ name: 'v', app: app(), runnable }],
    }),
  );
  expect(report.finishedAt).toBeUndefined();
  expect(report.done).toBeLessThan(1_000);
});

describe('a report', () => {
  test('says what happened in each trial', async () => {
    const owner = app();
    const report = await evaluate(
      simple({ variants: [{ name: 'v', app: owner, runnable: weather().agent }] }),
    );
    expect(report).toMatchObject({
      format: 'adjutant-eval-report',
      v: 1,
      name: 'weather',
      total: 1,
      done: 1,
      passed: true,
      comparisons: [],
    });
    expect(report.finishedAt).toBeGreaterThanOrEqual(report.startedAt);
    const trial = only(report);
    expect(trial).toMatchObject({
      trial: 1,
      status: 'completed',
      passed: true,
      usage: { inputTokens: 20, outputTokens: 10 },
      steps: 2,
      turns: [
        {
          user: 'Pune',
          assistant: 'It is 28 degrees in Pune.',
          toolCalls: [{ name: 'weather', args: { city: 'Pune' }, status: 'success' }],
        },
      ],
    });
    expect(trial.scores.map((score) => [score.scorer, score.score, score.passed])).toEqual([
      ['tool_trajectory', 1, true],
      ['response_match', 1, true],
    ]);
    // The ledger is there to be looked at.
    const session = await owner.sessions.get(trial.session);
    expect(session.events[0]).toMatchObject({
      type: 'decision',
      component: 'eval',
      data: { eval: 'weather', variant: 'v', case: 'pune', trial: 1 },
    });
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  test('sums up cases and trials, and compares variants with the first', async () => {
    const good = weather();
    // Says nothing useful of every other city, and something wrong of it every second time.
    let times = 0;
    const bad = weather({
      answers: (city) =>
        city.includes('o') ? { text: times++ % 2 === 0 ? 'No idea.' : 'Hm.' } : undefined,
    });
    const report = await evaluate({
      name: 'two',
      dataset: cities.map((city) => weatherCase(city)),
      variants: [
        { name: 'good', app: app(), runnable: good.agent },
        { name: 'bad', app: app(), runnable: bad.agent },
      ],
      trials: 3,
      threshold: 0.4,
    });
    expect(report).toMatchObject({ total: 36, done: 36, passed: true, threshold: 0.4 });
    const [first, second] = report.variants;
    expect(first?.summary).toMatchObject({
      cases: 6,
      trials: 18,
      passed: 18,
      passRate: { value: 1 },
      steps: { mean: 2 },
    });
    expect(second?.summary).toMatchObject({ trials: 18, passed: 9, passRate: { value: 0.5 } });
    expect(second?.summary.passAtK.map(({ k }) => k)).toEqual([1, 2, 3]);
    expect(second?.summary.scores['tool_trajectory']).toMatchObject({
      mean: 0.5,
      trials: 18,
      passed: 9,
    });
    const [comparison] = report.comparisons;
    expect(comparison).toMatchObject({
      baseline: 'good',
      candidate: 'bad',
      cases: 6,
      improved: [],
      regressed: ['oslo', 'bonn', 'rome'],
    });
    expect(comparison?.passRate).toMatchObject({
      baseline: 1,
      candidate: 0.5,
      value: -0.5,
      pValue: expect.closeTo(0.25, 9),
    });
    expect(comparison?.measures.steps).toMatchObject({ baseline: 2, candidate: 1.5, value: -0.5 });
  });

  test(
    'fails when one variant is below the threshold, which is 1 unless said ' + 'otherwise',
    async () => {
      const bad = weather({
        answers: (city) => (city === 'Oslo' ? { text: 'No idea.' } : undefined),
      });
      const options = simple({
        dataset: [weatherCase('Pune'), weatherCase('Oslo')],
        variants: [{ name: 'v', app: app(), runnable: bad.agent }],
      });
      expect((await evaluate(options)).passed).toBe(false);
      expect((await evaluate({ ...options, threshold: 0.5 })).passed).toBe(true);
      expect((await evaluate({ ...options, threshold: 0.51 })).passed).toBe(false);
    },
  );

  test('tells what happens, trial by trial', async () => {
    const told: EvalProgress[] = [];
    await evaluate(
      simple({
        dataset: [weatherCase('Pune'), weatherCase('Oslo')],
        concurrency: 1,
        onProgress: (progress) => told.push(progress),
      }),
    );
    expect(told.map(({ type }) => type)).toEqual([
      'start',
      'trial_start',
      'trial_end',
      'trial_start',
      'trial_end',
    ]);
    expect(told[0]).toMatchObject({
      name: 'weather',
      total: 2,
      variants: ['v'],
      cases: 2,
      trials: 1,
    });
    expect(told.at(-1)).toMatchObject({
      case: 'oslo',
      recorded: false,
      done: 2,
      passed: 2,
      total: 2,
    });
  });
});

describe('what an eval is made of', () => {
  const options = simple();
  test.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ['no name', { name: undefined }, /`name` must be a string/],
    ['no dataset', { dataset: undefined }, /`dataset` must be/],
    ['no variants', { variants: [] }, /`variants` must be a list of variants/],
    [
      'a variant without an app',
      { variants: [{ name: 'v', runnable: weather().agent }] },
      /place 0 must be an object whose `app`/,
    ],
    [
      'a variant with a wrong runnable',
      { variants: [{ name: 'v', app: app(), runnable: {} }] },
      /`runnable`/,
    ],
    [
      'a variant with both',
      { variants: [{ name: 'v', app: app(), open: () => ({}) }] },
      /without `app`/,
    ],
    [
      'two variants of one name',
      { variants: [options.variants[0], options.variants[0]] },
      /two variants have the name "v"/,
    ],
    [
      'two scorers of one name',
      { scorers: [toolTrajectory(), toolTrajectory()] },
      /two scorers have the name "tool_trajectory"/,
    ],
    ['no scorer', { scorers: [() => 1] }, /a scorer, such as/],
    ['no trials', { trials: 0 }, /`trials` must be a whole number from 1/],
    ['no concurrency', { concurrency: 0 }, /`concurrency`/],
    ['a threshold over 1', { threshold: 80 }, /`threshold` must be a number from 0 to 1/],
    ['a timeout of 0', { timeoutMs: 0 }, /`timeoutMs`/],
    ['wrong limits', { limits: { timeoutMs: 5 } }, /limits/],
    [
      'a k of more trials than there are',
      { passK: [2] },
      /`passK` has 2, and each case has 1 trials/,
    ],
    ['certainty', { confidence: 1 }, /`confidence`/],
    ['a run id with spaces', { runId: 'my run' }, /`runId`/],
    [
      'an option that there is none',
      { retries: 2 },
      /there is no option `retries` \(did you mean `trials`\?\)|no option `retries`/,
    ],
    ['a wrong store', { store: 'x.db' }, /`store`/],
    ['no case left', { only: () => false }, /`only` leaves none of the 1 cases/],
    ['no cases', { dataset: [] }, /its dataset has no cases/],
    [
      'nothing to continue in',
      {
        continue: true,
        variants: [{ name: 'v', open: () => ({ app: app(), runnable: weather().agent }) }],
      },
      /`continue` needs a `store`/,
    ],
  ])('%s is refused', async (_, wrong, message) => {
    await expect(evaluate({ ...options, ...wrong } as EvalOptions)).rejects.toMatchObject({
      code: 'invalid_eval',
      message: expect.stringMatching(message),
    });
  });

  test('two definitions of one name in one app are refused', async () => {
    const owner = app();
    const variants = ['a', 'b'].map((name) => ({ name, app: owner, runnable: weather().agent }));
    await expect(evaluate({ ...options, variants })).rejects.toThrow(
      /"a" and "b" are two different runnables named "weather" in one app/,
    );
  });

  test('an app that would go on with the trials of another variant is refused', async () => {
    const store = memoryStore();
    const apps = [
      runtime({ app: 'evals', store }),
      runtime({ app: 'evals', store, recover: 'manual' }),
    ];
    const variants = apps.map((one, i) => ({ name: `v${i}`, app: one, runnable: weather().agent }));
    await expect(evaluate({ ...options, variants })).rejects.toThrow(
      /of the variant "v0", its app needs `recover: 'manual'`/,
    );
    await Promise.all(apps.map((one) => one.close()));
  });

  test('cases that are none are refused where they are', async () => {
    await expect(evaluate({ ...options, dataset: [{ id: 'a' }] })).rejects.toMatchObject({
      code: 'invalid_dataset',
      data: { path: '$[0]' },
    });
  });

  test('cases can be chosen', async () => {
    const report = await evaluate({
      ...options,
      dataset: cities.map((city) =>
        weatherCase(city, { tags: [city.length > 4 ? 'long' : 'short'] }),
      ),
      only: ({ id }) => id === 'oslo',
    });
    expect(report.variants[0]?.cases.map(({ id, tags }) => [id, tags])).toEqual([
      ['oslo', ['short']],
    ]);
  });

  test('is a definition that is known as one', () => {
    const definition = defineEval(options);
    expect([
      isEvalDefinition(definition),
      isEvalDefinition({ ...options }),
      isEvalDefinition(null),
    ]).toEqual([true, false, false]);
    expect(() => defineEval({ ...options, trials: 0 })).toThrow(/`trials`/);
  });

  test('a listener that throws ends it', async () => {
    const world = weather();
    const told = evaluate(
      simple({
        dataset: cities.map((city) => weatherCase(city)),
        variants: [{ name: 'v', app: app(), runnable: world.agent }],
        concurrency: 1,
        onProgress: ({ type }) => {
          if (type === 'trial_end') throw new Error('The screen is full.');
        },
      }),
    );
    await expect(told).rejects.toThrow('The screen is full.');
    expect(world.asked).toHaveLength(1);
  });

  test('a file is read', async () => {
    const world = weather({ answers: (said) => ({ text: `You said ${said}.` }) });
    const report = await evaluate({
      name: 'file',
      dataset: new URL('./fixtures/lines.jsonl', import.meta.url),
      variants: [{ name: 'v', app: app(), runnable: world.agent }],
    });
    expect(trialsOf(report).map(({ turns }) => turns[0]?.assistant)).toEqual([
      'You said One.',
      'You said Two.',
    ]);
  });
});
