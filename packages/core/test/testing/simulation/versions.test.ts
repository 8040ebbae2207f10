import { describe, expect, test } from 'vitest';
import { step } from '../../../src/index.ts';
import type { MakeApp, SimulatedApp } from '../../../src/testing/simulation/machine-room.ts';
import { type SimulateOptions, simulate } from '../../../src/testing/simulation/simulate.ts';
import { clerkApp } from './small-app.ts';

const pay = { run: 'clerk', input: 'Pay bill 17.' };
const calm = { hours: 1, hoursPerSeed: 1, faults: {}, programs: [pay] };

const refusal = (makeApp: MakeApp, options: unknown = calm): Promise<unknown> =>
  simulate(makeApp, options as SimulateOptions).then(
    () => 'nothing',
    (error: unknown) => error,
  );

describe('a later version of an app', () => {
  test.each<[string, () => unknown, string]>([
    [
      'with another name',
      () => ({ ...clerkApp(), app: 'bills2' }),
      'version 1 is "bills", and version 3 is "bills2"',
    ],
    [
      'without the runnable of a program',
      () => ({
        ...clerkApp(),
        runnables: [step({ name: 'other', execute: async (ctx) => ctx.complete('x') })],
      }),
      '`programs[0]` runs "clerk", which version 3 of the app does not have (it has other)',
    ],
    ['as a promise', async () => clerkApp(), 'not a promise of them'],
    ['that is none', () => undefined, 'the options of an app, not undefined'],
    ['with a store', () => ({ ...clerkApp(), store: {} }), 'must not give `store`'],
  ])('%s is refused at once', async (_, later, message) => {
    const error = await refusal(({ version }) =>
      version === 1 ? clerkApp() : (later() as SimulatedApp),
    );
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect((error as Error).message).toContain(message);
  });
});

test('a run that the app refuses is told at once, with the program and the code', async () => {
  const input = { type: 'object', required: ['bill'], properties: { bill: { type: 'number' } } };
  const clerk = step({ name: 'clerk', input, execute: async (ctx) => ctx.complete('paid') });
  const { failures } = await simulate(() => ({ app: 'bills', runnables: [clerk] }), {
    ...calm,
    programs: [
      { run: 'clerk', data: { bill: 1 } },
      { run: 'clerk', data: { bill: 'seventeen' } },
    ],
  });
  expect(failures[0]?.broken[0]).toMatchObject({ rule: 'run_accepted' });
  expect(failures[0]?.broken[0]?.detail).toContain(
    '`programs[1]` (run1) is refused: invalid_input',
  );
  expect(failures[0]?.broken[0]?.detail).toContain('bill');
});

describe('where two runs of a seed part', () => {
  const detailOf = async (execute: () => unknown): Promise<string | undefined> => {
    const { failures } = await simulate(() => clerkApp(execute), calm);
    expect(failures[0]?.broken[0]?.rule).toBe('same_seed');
    return failures[0]?.broken[0]?.detail;
  };

  test('is told with the entry, the field and both values', async () => {
    let count = 0;
    const detail = await detailOf(() => `paid ${++count}`);
    expect(detail).toMatch(
      /event \d+ of run0\S* \(tool_result\): `result\.\S+` is "paid \d+", then/,
    );
    expect(detail).toContain('state outside `makeApp`');
  });

  test('is told with a hint at the clock, or at chance', async () => {
    let now = Date.now();
    expect(await detailOf(() => `paid at ${now++}`)).toContain('looks like Date.now()');
    expect(await detailOf(() => `paid ${Math.random()}`)).toContain('looks like Math.random()');
  });

  test('is told with the call, when the ledgers are of the same kind', async () => {
    let isSlow = false;
    const detail = await detailOf(async () => {
      isSlow = !isSlow;
      if (isSlow) await new Promise((resolve) => setImmediate(resolve));
      return 'paid';
    });
    expect(detail).toMatch(/call \d+ is "\d+:\d\d:\d\d/);
    expect(detail).toContain('timers, files and sockets');
  });
});
