import { expect, test } from 'vitest';
import { agent, tool } from '../../../src/index.ts';
import { roundModel } from '../../../src/testing/kit/round-model.ts';
import { type SimulateOptions, simulate } from '../../../src/testing/simulation/simulate.ts';
import { clerkApp } from './small-app.ts';

const pay = { run: 'clerk', input: 'Pay bill 17.' };

/** A bank that pays again when it is asked again, unless it is asked with the same key. */
class Bank {
  readonly payments: string[] = [];

  pay(key: string): string {
    this.payments.push(key);
    return 'paid';
  }
}

/** A clerk whose tool may be run again. */
function bankApp(bank: Bank, isCareful = false) {
  const tools = [
    tool({
      name: 'pay',
      description: 'Pays a bill',
      schema: { type: 'object' },
      recovery: 'rerun',
      execute: ({ idempotencyKey }) =>
        isCareful && bank.payments.includes(idempotencyKey) ? 'paid' : bank.pay(idempotencyKey),
    }),
  ];
  const model = roundModel([{ toolCalls: [{ name: 'pay', args: {} }] }, { text: 'Paid.' }]);
  return { app: 'bills', runnables: [agent({ name: 'clerk', model, tools })] };
}

const options: SimulateOptions<Bank> = {
  outside: () => new Bank(),
  atEnd: ({ outside, ends }) => {
    const { length } = outside.payments;
    if (length > ends.length) throw new Error(`${length} payments of ${ends.length} bills`);
  },
  programs: [pay, pay],
  faults: { stop: 0.05 },
  hours: 12,
  hoursPerSeed: 1,
};

test('a tool that pays twice after a crash is found, with the cause and a short story', async () => {
  const programs = [pay];
  const makeApp = ({ outside }: { outside: Bank }) => bankApp(outside);
  const { failures } = await simulate(makeApp, { ...options, programs });
  const [failure] = failures;
  expect(failure?.broken).toHaveLength(1);
  expect(failure?.broken[0]).toMatchObject({
    rule: 'at_end',
    detail: 'Error: 2 payments of 1 bills',
    cause: expect.any(Error),
  });
  expect(failure?.faults.every((fault) => fault.startsWith('stop@'))).toBe(true);
  expect(failure?.faults.length).toBeLessThan(5);
});

test('one that keeps the key is not, and each run has an outside of its own', async () => {
  let made = 0;
  const report = await simulate(({ outside }) => bankApp(outside, true), {
    ...options,
    outside: () => {
      made++;
      return new Bank();
    },
  });
  expect(report.failures).toEqual([]);
  // Once to learn the names of the app, and for each of three runs of a seed.
  expect(made).toBe(1 + 3 * report.seeds);
});

test('the check gets the ends of the programs, and may be asynchronous', async () => {
  const seen: unknown[] = [];
  const { failures } = await simulate(() => clerkApp(), {
    programs: [pay],
    faults: {},
    hours: 1,
    hoursPerSeed: 1,
    atEnd: async ({ ends, outside }) => {
      seen.push(ends, outside);
      await Promise.reject(new TypeError('no'));
    },
  });
  expect(seen.slice(0, 2)).toEqual([
    [{ program: pay, status: 'completed', output: 'Paid.', state: {} }],
    undefined,
  ]);
  expect(failures[0]?.broken).toEqual([
    { rule: 'at_end', detail: 'TypeError: no', cause: expect.any(TypeError) },
  ]);
  expect(failures[0]?.faults).toEqual([]);
});
