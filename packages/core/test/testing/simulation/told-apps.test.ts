import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agent, step, tool } from '../../../src/index.ts';
import { roundModel } from '../../../src/testing/kit/round-model.ts';
import type { SimulatedApp } from '../../../src/testing/simulation/machine-room.ts';
import { type SimulateOptions, simulate } from '../../../src/testing/simulation/simulate.ts';
import type { SimulatedProgram } from '../../../src/testing/simulation/simulated-program.ts';
import { clerkApp } from './small-app.ts';

const pay = { run: 'clerk', input: 'Pay bill 17.' };
const calm = { hours: 2, hoursPerSeed: 1, seed: 2, faults: {} };

/** An app whose tool waits for an approval. */
function askingApp(): SimulatedApp {
  const tools = [
    tool({
      name: 'pay',
      description: 'Pays a bill',
      schema: { type: 'object' },
      approval: true,
      execute: () => 'paid',
    }),
  ];
  const model = roundModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]);
  return { app: 'bills', runnables: [agent({ name: 'clerk', model, tools })] };
}

function stepApp(execute: () => unknown): SimulatedApp {
  const clerk = step({
    name: 'clerk',
    execute: async (ctx) => ctx.complete((await execute()) as string),
  });
  return { app: 'bills', runnables: [clerk] };
}

describe('a simulation in which nothing was compared', () => {
  test('has failed, and says why, when the programs fail without faults too', async () => {
    const fails = () => {
      throw new Error('always');
    };
    const options = { ...calm, programs: [pay, pay] };
    const { failures } = await simulate(() => stepApp(fails), options);
    expect(failures).toHaveLength(1);
    expect(failures[0]?.broken[0]?.rule).toBe('ends_compared');
    expect(failures[0]?.broken[0]?.detail).toContain('none of 4 ends');
    expect(failures[0]?.broken[0]?.detail).toContain('run0 error (seeds: 2), run1 error');
  });

  test('has not failed when people reject what the programs ask, faults or not', async () => {
    const rejected = { ...pay, answer: () => ({ decision: 'reject' }) as const };
    const { compared, failures, programs } = await simulate(askingApp, {
      ...{ hours: 2, hoursPerSeed: 1, faults: { stop: 0.1 } },
      programs: [rejected],
    });
    expect(failures).toEqual([]);
    expect([compared, programs]).toEqual([2, 2]);
  });

  test('has failed when faults met every program', async () => {
    const options = { programs: [pay], hours: 1, hoursPerSeed: 1, seed: 5 };
    const always: SimulateOptions = { ...options, faults: { toolError: 1, cancel: 1 } };
    const { compared, failures } = await simulate(() => clerkApp(), always);
    expect(compared).toBe(0);
    expect(failures[0]?.broken).toEqual([
      { rule: 'ends_compared', detail: expect.stringContaining('1 met a fault') },
    ]);
    expect(failures[0]?.broken[0]?.detail).toContain('more hours');
  });
});

describe('a wrong answer of a program', () => {
  const answering = (answer: unknown) =>
    simulate(askingApp, { ...calm, programs: [{ ...pay, answer } as SimulatedProgram] });

  test.each<[string, unknown, string]>([
    ['a decision that is not offered', () => ({ decision: 'aprove' }), 'decision_not_offered'],
    ['an option that is unknown', () => ({ decision: 'approve', frob: 1 }), 'invalid_answer'],
    ['an actor that is none', () => ({ decision: 'approve', by: 'model' }), 'invalid_answer'],
    ['an input too much', () => ({ decision: 'approve', input: 1 }), 'input_mismatch'],
    ['a text', () => 'approve', 'invalid_answer'],
    ['null', () => null, 'invalid_answer'],
    ['a promise', async () => ({ decision: 'approve' }), 'invalid_answer'],
  ])('is a failure: %s', async (_, answer, code) => {
    const { failures } = await answering(answer);
    expect(failures).toHaveLength(2);
    expect(failures[0]?.broken[0]).toMatchObject({ rule: 'answer_taken' });
    const detail = failures[0]?.broken[0]?.detail;
    expect(detail).toContain('`answer` of `programs[0]`');
    expect(detail).toContain('pay (run0/');
    expect(detail).toContain(code);
  });

  test('is a failure with its cause when it throws', async () => {
    const boom = new Error('boom');
    const { failures } = await answering(() => {
      throw boom;
    });
    expect(failures[0]?.broken[0]).toMatchObject({
      rule: 'answer_taken',
      detail: expect.stringContaining('throws Error: boom'),
      cause: boom,
    });
  });

  test('is none when it comes too late, or leaves the choice to the draw', async () => {
    const faults = { doubleAnswer: 1 };
    for (const answer of [() => ({ decision: 'approve' }) as const, () => undefined]) {
      const { failures } = await simulate(askingApp, {
        ...calm,
        faults,
        programs: [{ ...pay, answer }],
      });
      expect(failures).toEqual([]);
    }
  });
});

describe('an app that fails outside its runs', () => {
  test('is a failure when a later version cannot be made', async () => {
    const boom = new Error('boom');
    const { failures } = await simulate(
      ({ version }) => {
        if (version > 1) throw boom;
        return clerkApp();
      },
      { ...calm, programs: [pay] },
    );
    expect(failures).toHaveLength(2);
    expect(failures[0]?.broken).toHaveLength(1);
    expect(failures[0]?.broken[0]).toMatchObject({
      rule: 'app_starts',
      detail: expect.stringMatching(/^version \d+ of the app does not start: Error: boom$/),
      cause: boom,
    });
  });

  test('is a failure when nobody hears of an error, in a process of its own too', async () => {
    const script = join(import.meta.dirname, 'stray-errors-main.ts');
    const child = spawn(process.execPath, ['--conditions=adjutant-source', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    const code = await new Promise((resolve) => void child.once('close', resolve));
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      rejected: { rule: 'errors_handled', detail: 'Error: stray rejection' },
      thrown: { rule: 'errors_handled', detail: 'Error: stray throw' },
    });
  });

  test('leaves the listeners of the test runner as they were', async () => {
    const before = process.listeners('unhandledRejection');
    const { failures } = await simulate(
      () =>
        stepApp(() => {
          void Promise.reject(new Error('stray rejection'));
          return 'done';
        }),
      { ...calm, programs: [pay] },
    );
    expect(failures[0]?.broken[0]?.rule).toBe('errors_handled');
    expect(process.listeners('unhandledRejection')).toEqual(before);
  });
});
