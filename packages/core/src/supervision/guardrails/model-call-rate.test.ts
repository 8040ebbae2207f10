import { expect, test } from 'vitest';
import type { GuardrailVerdict } from '../guardrail.ts';
import { modelCallRate } from './model-call-rate.ts';

function check(calledAt: Iterable<number>, at = 10_000): GuardrailVerdict | undefined {
  return modelCallRate({ calls: 3, perMs: 1_000 }).modelCall?.({
    agent: 'a',
    round: 1,
    at,
    calledAt,
  });
}

test('the call after the last one allowed is refused, with the numbers', () => {
  expect(check([])).toBeUndefined();
  expect(check([9_900, 9_500])).toBeUndefined();
  expect(check([9_900, 9_500, 9_001])).toEqual({
    action: 'deny',
    message: 'There were too many requests in a short time. Please try again later.',
    reasoning: '3 model calls have begun within 1000 ms, which is all that is allowed.',
  });
});

test('calls of before do not count, from the very millisecond on', () => {
  expect(check([9_900, 9_500, 9_000])).toBeUndefined();
});

test('older calls are not even looked at', () => {
  function* calls() {
    yield 9_900;
    yield 8_000;
    throw new Error('looked too far back');
  }
  expect(check(calls())).toBeUndefined();
});

test('the message is the one that was given', () => {
  const guardrail = modelCallRate({ calls: 1, perMs: 10, message: 'Slow down.' });
  expect(guardrail.modelCall?.({ agent: 'a', round: 1, at: 5, calledAt: [4] })).toMatchObject({
    action: 'deny',
    message: 'Slow down.',
  });
});

test.each([
  {},
  { calls: 3 },
  { calls: 0, perMs: 5 },
  { calls: 3, perMs: 0 },
  { calls: 3, perMs: 5, per: 1 },
])('%j is refused', (options) => {
  expect(() => modelCallRate(options as never)).toThrow('modelCallRate() cannot be set up');
});
