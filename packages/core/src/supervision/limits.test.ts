import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Account, type Demand, roomFor } from './limits.ts';

const nothing = { rounds: 0, tokens: 0, cost: 0, errors: 0 };
const unlimited = { rounds: undefined, tokens: undefined, cost: undefined, errors: undefined };

function account(
  tokens: number,
  used: number,
  reserved = 0,
  of: 'agent' | 'run' = 'agent',
  path = 'run/a',
): Account {
  return {
    of,
    path,
    used: { ...nothing, tokens: used },
    reserved: { ...nothing, tokens: reserved },
    limits: { ...unlimited, tokens },
  };
}

const numbers = fc.record({
  limit: fc.integer({ min: 1, max: 20_000 }),
  used: fc.nat(10_000),
  reserved: fc.nat(5_000),
  input: fc.nat(3_000),
  output: fc.integer({ min: 1, max: 5_000 }),
  final: fc.boolean(),
});

function demandOf({
  input,
  output,
  final,
}: {
  input: number;
  output: number;
  final: boolean;
}): Demand {
  return { input, output, least: Math.min(output, 100), rates: undefined, final, callers: [] };
}

test(
  'a call with all the room that it gets, and the shortest last answer behind it, fit within ' +
    'the limit, and one token more does not',
  () => {
    fc.assert(
      fc.property(numbers, ({ limit, used, reserved, ...call }) => {
        const demand = demandOf(call);
        const left = limit - used - reserved;
        const needs = (output: number) => {
          const behind = demand.final ? 0 : demand.input + output + demand.least;
          return demand.input + output + behind;
        };
        const room = roomFor([account(limit, used, reserved)], demand, true);
        if (typeof room === 'number') {
          expect(needs(room)).toBeLessThanOrEqual(left);
          expect(room).toBeGreaterThanOrEqual(demand.least);
          if (room < demand.output) expect(needs(room + 1)).toBeGreaterThan(left);
          else expect(room).toBe(demand.output);
        } else {
          expect(room).toMatchObject({
            reason: 'token_limit',
            used,
            limit,
            needed: needs(demand.least),
          });
          expect(needs(demand.least)).toBeGreaterThan(left);
        }
      }),
    );
  },
);

test('what is not reserved leaves at least as much room', () => {
  fc.assert(
    fc.property(numbers, ({ limit, used, reserved, ...call }) => {
      const withReserved = roomFor([account(limit, used, reserved)], demandOf(call), true);
      const without = roomFor([account(limit, used, reserved)], demandOf(call), false);
      if (typeof withReserved === 'number') expect(without).toBeGreaterThanOrEqual(withReserved);
    }),
  );
});

test(
  'the tightest of several accounts decides, and callers are left room only where they take ' +
    'from the same account',
  () => {
    const demand = {
      ...demandOf({ input: 100, output: 4_000, final: true }),
      callers: [{ path: 'run/a', tokens: 500, cost: 0 }],
    };
    const own = account(1_000, 0, 0, 'agent', 'run/a/r1.0/b');
    const caller = account(1_200, 0, 0, 'agent', 'run/a');
    const run = account(5_000, 0, 0, 'run', 'run');
    expect(roomFor([own], demand, true)).toBe(900);
    expect(roomFor([own, caller], demand, true)).toBe(600);
    expect(roomFor([run], demand, true)).toBe(4_000);
    expect(roomFor([account(1_000, 0, 0, 'run', 'run')], demand, true)).toBe(400);
  },
);

test('dollars are reserved by the price, and not at all where it is not known', () => {
  const rich: Account = { ...account(1, 0), limits: { ...unlimited, cost: 1 } };
  const demand = {
    ...demandOf({ input: 100, output: 4_000, final: true }),
    rates: { input: 0.001, output: 0.002 },
  };
  expect(roomFor([rich], demand, true)).toBe(450);
  expect(roomFor([rich], { ...demand, rates: undefined }, true)).toBe(4_000);
});

test(
  'rounds that calls under way may use are not there for another one, but for the ' + 'last answer',
  () => {
    const rounds: Account = {
      ...account(1, 0),
      used: { ...nothing, rounds: 1 },
      reserved: { ...nothing, rounds: 1 },
      limits: { ...unlimited, rounds: 2 },
    };
    const demand = demandOf({ input: 1, output: 1, final: false });
    expect(roomFor([rounds], demand, true)).toMatchObject({ reason: 'round_limit' });
    expect(roomFor([rounds], demand, false)).toBe(1);
    expect(roomFor([rounds], { ...demand, final: true }, true)).toBe(1);
  },
);
