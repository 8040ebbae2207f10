import { type Cause, type CausingTrigger, causeOf } from 'adjutant/triggers';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/** Fires triggers one after the other; returns the last result. */
function chain(...triggers: readonly CausingTrigger[]) {
  let cause: Cause | undefined;
  let result = causeOf(undefined, triggers[0] as CausingTrigger);
  for (const trigger of triggers) {
    result = causeOf(cause, trigger);
    if (!result.accepted) return result;
    // A cause travels as JSON.
    cause = JSON.parse(JSON.stringify(result.cause)) as Cause;
  }
  return result;
}

const named = (...ids: readonly string[]) => ids.map((id) => ({ id }));

test('a cause has its root, its depth and its chain', () => {
  expect(chain({ id: 'a' })).toEqual({
    accepted: true,
    cause: { root: 'a', depth: 1, chain: ['a'] },
  });
  expect(chain(...named('a', 'b', 'c'))).toEqual({
    accepted: true,
    cause: { root: 'a', depth: 3, chain: ['a', 'b', 'c'] },
  });
});

test('a_starts_b_starts_a', () => {
  expect(chain(...named('a', 'b', 'a'))).toEqual({
    accepted: false,
    reason: 'cycle',
    reasoning: 'The trigger a occurs in its own chain of causes: a → b → a.',
    chain: ['a', 'b', 'a'],
  });
});

test('a trigger may occur again as often as it says', () => {
  const again = { id: 'a', reentrant: 1 };
  expect(chain(again, { id: 'b' }, again)).toMatchObject({ accepted: true });
  expect(chain(again, again, again)).toMatchObject({
    reason: 'cycle',
    reasoning:
      'The trigger a occurs in its own chain of causes more often than it may (1): a → a → a.',
  });
});

test('depth_17_refused', () => {
  const ids = Array.from({ length: 17 }, (_, index) => `t${index}`);
  expect(chain(...named(...ids.slice(0, 16)))).toMatchObject({ cause: { depth: 16 } });
  expect(chain(...named(...ids))).toMatchObject({
    accepted: false,
    reason: 'too_deep',
    reasoning: expect.stringContaining('The chain of causes has more than 16 names: t0 → t1'),
  });
});

test('no chain of triggers goes on for ever', () => {
  const trigger = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    reentrant: fc.nat({ max: 20 }),
  });
  fc.assert(
    fc.property(fc.array(trigger, { minLength: 17, maxLength: 40 }), (triggers) => {
      const result = chain(...triggers);
      expect(result).toMatchObject({ accepted: false });
      expect((result as { chain: readonly string[] }).chain.length).toBeLessThanOrEqual(17);
    }),
  );
});
