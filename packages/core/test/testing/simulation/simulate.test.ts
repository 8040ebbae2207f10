import { describe, expect, test } from 'vitest';
import { agent, step } from '../../../src/index.ts';
import type { MakeApp } from '../../../src/testing/simulation/machine-room.ts';
import { type SimulateOptions, simulate } from '../../../src/testing/simulation/simulate.ts';
import { clerkApp } from './small-app.ts';

const pay = { run: 'clerk', input: 'Pay bill 17.' };
const short = { hours: 4, hoursPerSeed: 1 };

test('hours are those of whole seeds, and of one seed when they are few', async () => {
  const options = { programs: [pay], faults: {} };
  const one = await simulate(() => clerkApp(), { ...options, hours: 1 });
  expect([one.seeds, one.hours]).toEqual([1, 1]);
  const more = await simulate(() => clerkApp(), { ...options, hours: 5, hoursPerSeed: 2 });
  expect([more.seeds, more.hours]).toEqual([3, 6]);
});

test('an app of a tenant of its own runs', async () => {
  const makeApp = () => ({ ...clerkApp(), tenant: 'acme' });
  const report = await simulate(makeApp, { programs: [pay], faults: {}, hours: 1 });
  expect(report.failures).toEqual([]);
  expect(report.compared).toBe(1);
});

test('an app without a fault of its own breaks no rule', async () => {
  const seeds: number[] = [];
  const report = await simulate(() => clerkApp(), {
    ...short,
    programs: (seed) => (seed % 2 === 0 ? [pay] : [pay, pay]),
    onSeed: ({ seed }) => seeds.push(seed),
    seed: 3,
  });
  expect(report.failures).toEqual([]);
  expect(seeds).toEqual([3, 4, 5, 6]);
  expect(report.seeds).toBe(4);
  expect(report.hours).toBeGreaterThanOrEqual(4);
  expect(report.events).toBeGreaterThan(20);
});

describe('a fault of an app', () => {
  test('that keeps a counter beside ctx is found', async () => {
    let count = 0;
    const makeApp = () => clerkApp(() => `paid ${++count}`);
    const programs = [pay, pay, pay];
    const report = await simulate(makeApp, { programs, hours: 1, hoursPerSeed: 1 });
    const [failure] = report.failures;
    expect(failure?.broken[0]?.rule).toBe('same_seed');
    expect(failure?.seed).toBe(1);
    expect(failure?.programs).toEqual([pay]);
    expect(failure?.faults).toEqual([]);
  });

  test('is shown by the fewest programs and faults, in a story that replays', async () => {
    // The step writes what its process has counted, and the next process begins anew.
    const makeApp: MakeApp = () => {
      let total = 0;
      const count = step({
        name: 'count',
        execute: async (ctx) => {
          total++;
          return ctx.complete(`number ${total}`);
        },
      });
      const rest = step({ name: 'rest', execute: async (ctx) => ctx.complete('rested') });
      return { app: 'counting', runnables: [count, rest] };
    };
    const [counted, rested] = [{ run: 'count' }, { run: 'rest' }];
    const options: SimulateOptions = {
      programs: [rested, counted, rested, counted, counted],
      faults: { deploy: 1, clockJump: 1 },
      hours: 4,
      hoursPerSeed: 1,
      machines: 1,
    };
    const [failure] = (await simulate(makeApp, options)).failures;
    expect(failure?.broken[0]?.rule).toBe('same_end');
    expect(failure?.programs).toEqual([counted, counted]);
    expect(failure?.faults).toEqual([expect.stringMatching(/^deploy@p1\/deploy#\d+$/)]);
    expect(failure?.story.some((line) => line.includes('is asked to end'))).toBe(true);
    const [again] = (await simulate(makeApp, options)).failures;
    expect(again).toEqual(failure);
  });
});

describe('what is refused', () => {
  const refusal = (options: unknown, makeApp: unknown = () => clerkApp()): Promise<unknown> =>
    simulate(makeApp as MakeApp, options as SimulateOptions).then(
      () => 'nothing',
      (error: unknown) => error,
    );

  test.each<[unknown, string]>([
    [{}, '`programs` must be a list of programs, or a function that makes it, not null'],
    [{ programs: 'pay' }, '`programs` must be a list of programs'],
    [{ programs: [] }, 'a list of at least one program, not an empty list'],
    [{ programs: () => 3 }, 'a list of at least one program, not 3'],
    [{ programs: ['pay'] }, '`programs[0]` must be an object'],
    [{ programs: [pay, {}] }, '`programs[1]` must have the name of a runnable in `run`'],
    [
      { programs: [{ run: 'clark' }] },
      'runs "clark", which the app does not have (did you mean "clerk"?)',
    ],
    [{ programs: [{ run: 'zzzzzzzz' }] }, '(it has clerk)'],
    [{ programs: [{ ...pay, inputs: 'x' }] }, 'there is no'],
    [{ programs: [{ ...pay, answer: 'yes' }] }, '`answer` is a function'],
    [{ programs: [{ ...pay, repair: 'yes' }] }, '`repair` is a function'],
    [{ programs: [{ ...pay, beside: 'side' }] }, '`beside` is an object'],
    [{ programs: [{ ...pay, beside: { run: 'clerk', lane: 'default' } }] }, 'other than "default"'],
    [{ programs: [{ ...pay, beside: { run: 'clerk' } }] }, 'the name of a lane'],
    [{ programs: [{ ...pay, beside: { run: 'nobody', lane: 'side' } }] }, 'nobody'],
    [{ programs: [pay], hour: 3 }, 'there is no option `hour` (did you mean `hours`?)'],
    [
      { programs: [pay], hours: 0.5 },
      '`hours` must be a whole number from 1 to 100000000, not 0.5',
    ],
    [{ programs: [pay], seed: -1 }, '`seed` must be a whole number from 1 to 4294967295, not -1'],
    [{ programs: [pay], machines: 0 }, '`machines` must be a whole number from 1'],
    [
      { programs: [pay], machines: 101 },
      '`machines` must be a whole number from 1 to 100, not 101',
    ],
    [{ programs: [pay], hoursPerSeed: 10_001 }, 'a whole number from 1 to 10000, not 10001'],
    [{ programs: [pay], hours: Number.POSITIVE_INFINITY }, 'from 1 to 100000000, not Infinity'],
    [{ programs: [pay], seed: 2 ** 32 }, 'from 1 to 4294967295, not 4294967296'],
    [{ programs: [pay], seed: 2 ** 32 - 1, hours: 20 }, 'must end at 4294967295'],
    [{ programs: [pay], hours: 1, hoursPerSeed: 2 }, '`hours` must be at least `hoursPerSeed`'],
    [{ programs: Array(1_001).fill(pay) }, 'a list of at most 1000 programs, not of 1001'],
    [{ programs: async () => [pay] }, 'must return a list of programs, not a promise of one'],
    [{ programs: [pay], outside: {} }, '`outside` must be a function, not an object'],
    [{ programs: [pay], outside: async () => 1 }, '`outside` must return the doubles'],
    [{ programs: [pay], atEnd: 1 }, '`atEnd` must be a function, not 1'],
    [{ programs: [pay], makeApp: 1 }, 'no option `makeApp` (the options are programs, events,'],
    [{ programs: [pay], outsde: 1 }, '`outsde` (did you mean `outside`?)'],
    [{ programs: [{ run: 'clerk', data: 3 }] }, 'whose `data` is an object'],
    [
      { programs: [pay, { run: 'clerk', data: { items: [{ price: () => 1 }] } }] },
      'JSON in `data`, but `programs[1].data.items[0].price` is a function',
    ],
    [{ programs: [{ run: 'clerk', data: { at: new Date(0) } }] }, 'is an instance of Date'],
    [{ programs: [pay], onSeed: 1 }, '`onSeed` must be a function'],
    [{ programs: [pay], faults: { stopp: 1 } }, '`stopp` (did you mean `stop`?)'],
    [{ programs: [pay], faults: { stop: -0.1 } }, '`stop` is a number from 0 to 1, not -0.1'],
    [{ programs: [pay], faults: { stop: 2 } }, '`stop` is a number from 0 to 1, not 2'],
    [{ programs: [pay], faults: { stop: Number.NaN } }, 'a number from 0 to 1'],
  ])('options %j', async (options, message) => {
    const error = await refusal(options);
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect((error as Error).message).toContain(message.replace('there is no', ''));
  });

  test.each<[unknown, string]>([
    [null, '`makeApp` must be a function'],
    [() => 3, '`makeApp` must return the options of an app, not 3'],
    [async () => clerkApp(), 'not a promise of them'],
    [() => ({ ...clerkApp(), store: {} }), '`makeApp` must not give `store`'],
    [() => ({ ...clerkApp(), recover: 'auto' }), '`makeApp` must not give `recover`'],
    [() => ({ ...clerkApp(), tenants: true }), '`makeApp` must not give `tenants`'],
    [() => ({ ...clerkApp(), runables: [] }), '`runables` (did you mean `runnables`?)'],
    [() => ({ ...clerkApp(), app: 3 }), 'whose `app` is a string'],
  ])('an app of another kind', async (makeApp, message) => {
    const error = await refusal({ programs: [pay] }, makeApp);
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect((error as Error).message).toContain(message);
  });

  test('a real model, when it is about to be called', async () => {
    const model = {
      specificationVersion: 'v4',
      provider: 'somebody',
      modelId: 'large',
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('was called')),
      doStream: () => Promise.reject(new Error('was called')),
    } as const;
    const makeApp = () => ({ app: 'real', runnables: [agent({ name: 'clerk', model })] });
    const error = await refusal({ ...short, programs: [pay] }, makeApp);
    expect(error).toMatchObject({ code: 'real_model_forbidden' });
    expect((error as Error).message).toContain('simulate()');
  });
});
