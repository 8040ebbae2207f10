import {
  type ConditionCheck,
  type ConditionOptions,
  type ConditionState,
  condition,
  conditionEdge,
  dueFirings,
  firingPolicy,
} from 'adjutant/triggers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

/** Folds checks, each at the instant of its place, and returns what they meant. */
function changes(...checks: readonly (boolean | 'failed')[]): readonly string[] {
  let state: ConditionState | undefined;
  return checks.map((met, at) => {
    const outcome = conditionEdge(state, met === 'failed' ? { at, failed: 'gone' } : { at, met });
    // A restart keeps JSON.
    state = JSON.parse(JSON.stringify(outcome.state)) as ConditionState;
    return outcome.fires ? `${outcome.change}!` : outcome.change;
  });
}

describe('conditionEdge', () => {
  test('fires on the change from false to true, and not in each period', () => {
    expect(changes(false, true, true, true, false, true)).toEqual([
      ...['stayed_false', 'became_true!', 'stayed_true', 'stayed_true'],
      ...['became_false', 'became_true!'],
    ]);
  });

  test('counts a condition as false before its first check', () => {
    expect(changes(true, true)).toEqual(['became_true!', 'stayed_true']);
  });

  test('keeps what it knew when a check has no result', () => {
    expect(changes('failed', true, 'failed', true, false, 'failed', true)).toEqual([
      ...['failed', 'became_true!', 'failed', 'stayed_true', 'became_false', 'failed'],
      'became_true!',
    ]);
  });

  test('records what the check saw', () => {
    const before = conditionEdge(undefined, { at: 1, met: false, saw: { price: 120 } });
    expect(before.state).toEqual({ met: false, checkedAt: 1, saw: { price: 120 } });
    const fired = conditionEdge(before.state, { at: 2, met: true, saw: { price: 99 } });
    expect(fired).toEqual({
      change: 'became_true',
      fires: true,
      state: { met: true, checkedAt: 2, saw: { price: 99 } },
    });
    expect(conditionEdge(fired.state, { at: 3, failed: 'timeout' }).state).toEqual({
      met: true,
      checkedAt: 3,
      saw: { price: 99 },
    });
  });

  test('leaves out a check that comes after a later one', () => {
    const { state } = conditionEdge(undefined, { at: 5, met: false });
    for (const at of [4, 5])
      expect(conditionEdge(state, { at, met: true })).toEqual({
        change: 'stale',
        fires: false,
        state,
      });
  });

  test('fires as often as checks with a result change from false to true', () => {
    const check = fc.constantFrom<ConditionCheck>(
      { at: 0, met: true },
      { at: 0, met: false },
      { at: 0, failed: '' },
    );
    fc.assert(
      fc.property(fc.array(check), (checks) => {
        const results = checks.flatMap((one) => ('met' in one ? [one.met] : []));
        const edges = results.filter((met, index) => met && results[index - 1] !== true).length;
        const told = changes(...checks.map((one) => ('met' in one ? one.met : 'failed')));
        expect(told.filter((one) => one.endsWith('!'))).toHaveLength(edges);
      }),
    );
  });
});

describe('condition', () => {
  const isCheap = () => ({ met: false, saw: 120 });

  test('holds the check and says when it is due', () => {
    const cheap = condition(isCheap, { every: '10m' });
    expect(cheap).toEqual({
      kind: 'condition',
      check: isCheap,
      checks: { kind: 'every', everyMs: 600_000, jitterMs: 0 },
    });
    const question = { considered: 0, anchor: 0, triggerId: 't', now: 600_000 };
    const { firings } = dueFirings(cheap.checks, firingPolicy(cheap), question);
    expect(firings).toHaveLength(1);
  });

  test.each<[unknown, unknown, string]>([
    ['price < 100', { every: '1m' }, 'the check must be a function, not "price < 100"'],
    [isCheap, { every: '1ms' }, 'the interval of 1 ms is too short'],
    [isCheap, {}, 'the interval must be milliseconds or a text'],
    [isCheap, undefined, 'the options must be an object, not undefined'],
    [isCheap, { every: '1m', timeZone: 'UTC' }, 'there is no option `timeZone`'],
  ])('of %s with %j is refused', (check, options, message) => {
    const declare = () => condition(check as typeof isCheap, options as ConditionOptions);
    expect(declare).toThrow(expect.objectContaining({ code: 'invalid_trigger' }));
    expect(declare).toThrow(message);
  });
});
