import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { measureDifference, rateDifference, scoreDifference } from './differences.ts';
import {
  type CaseOutcome,
  correlation,
  meanInterval,
  quantile,
  rateInterval,
  scoreInterval,
  wilson,
} from './intervals.ts';
import { overCases, passAllK, passAtK } from './pass-at-k.ts';

const shares = fc.double({ min: 0, max: 1, noNaN: true });
const outcomes = fc.array(
  fc
    .integer({ min: 1, max: 8 })
    .chain((trials) => fc.integer({ min: 0, max: trials }).map((passed) => ({ passed, trials }))),
  { minLength: 1, maxLength: 30 },
);
const single = (passes: readonly boolean[]): readonly CaseOutcome[] =>
  passes.map((passed) => ({ passed: passed ? 1 : 0, trials: 1 }));

describe("Wilson's interval", () => {
  // Newcombe, Statistics in Medicine 17 (1998) 857–872, table I, method 3.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
    [29, 29, 0.883, 1],
  ])('of %d in %d is from %d to %d', (passed, n, low, high) => {
    const interval = wilson(passed / n, n, 0.95);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  test('lies in [0, 1], holds its value, and narrows with more trials and less confidence', () => {
    fc.assert(
      fc.property(shares, fc.integer({ min: 1, max: 1_000 }), (share, n) => {
        const { low, high } = wilson(share, n, 0.95);
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThanOrEqual(share);
        expect(high).toBeGreaterThanOrEqual(share);
        const more = wilson(share, n * 4, 0.95);
        expect(more.high - more.low).toBeLessThanOrEqual(high - low + 1e-12);
        const surer = wilson(share, n, 0.99);
        expect(surer.high - surer.low).toBeGreaterThanOrEqual(high - low - 1e-12);
      }),
    );
  });
});

describe('pass rates', () => {
  test('of one trial a case are those of Wilson', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 50 }), (passes) => {
        const share = passes.filter(Boolean).length / passes.length;
        const interval = rateInterval(single(passes), 0.95);
        const expected = wilson(share, passes.length, 0.95);
        expect(interval.low).toBeCloseTo(expected.low, 9);
        expect(interval.high).toBeCloseTo(expected.high, 9);
      }),
    );
  });

  test('trials that always repeat their case say no more than one trial', () => {
    const once = rateInterval(single([true, false, true, true]), 0.95);
    const tenTimes = rateInterval(
      single([true, false, true, true]).map(({ passed }) => ({ passed: passed * 10, trials: 10 })),
      0.95,
    );
    expect(tenTimes.low).toBeCloseTo(once.low, 9);
    expect(tenTimes.high).toBeCloseTo(once.high, 9);
  });

  test('trials that do not depend on their case count by themselves, and never for more', () => {
    const even = Array.from({ length: 10 }, () => ({ passed: 5, trials: 10 }));
    expect(rateInterval(even, 0.95)).toEqual(wilson(0.5, 100, 0.95));
  });

  test('lie in [0, 1] and hold their value, whatever came out', () => {
    fc.assert(
      fc.property(outcomes, (cases) => {
        const { value, low, high } = rateInterval(cases, 0.95);
        expect(0 <= low && low <= value && value <= high && high <= 1).toBe(true);
      }),
    );
  });

  test('without trials nothing is known', () => {
    expect(rateInterval([], 0.95)).toEqual({ value: 0, low: 0, high: 1 });
  });
});

describe('means', () => {
  test("have Student's interval", () => {
    // Mean 5, standard deviation √10, t(4) = 2.776: 5 ± 2.776 · √10 / √5.
    const { value, low, high } = meanInterval([1, 3, 5, 7, 9], 0.95);
    expect(value).toBe(5);
    expect(low).toBeCloseTo(5 - 3.9264, 3);
    expect(high).toBeCloseTo(5 + 3.9264, 3);
  });

  test('of scores stay in [0, 1], and are no certainty where all are the same at the edge', () => {
    expect(scoreInterval([1, 1, 1], 0.95)).toEqual(wilson(1, 3, 0.95));
    expect(scoreInterval([0, 0], 0.95)).toEqual(wilson(0, 2, 0.95));
    expect(scoreInterval([0.7], 0.95)).toEqual({ value: 0.7, low: 0, high: 1 });
    expect(scoreInterval([], 0.95)).toEqual({ value: 0, low: 0, high: 1 });
    fc.assert(
      fc.property(fc.array(shares, { minLength: 1, maxLength: 30 }), (scores) => {
        const { value, low, high } = scoreInterval(scores, 0.95);
        expect(0 <= low && low <= value + 1e-12 && value <= high + 1e-12 && high <= 1).toBe(true);
      }),
    );
  });

  test('quantiles are interpolated', () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(quantile([1, 2, 3, 4, 5], 0.95)).toBeCloseTo(4.8, 9);
    expect([quantile([], 0.5), quantile([7], 0.95)]).toEqual([0, 7]);
  });
});

describe('pass@k and pass^k', () => {
  test('are the shares of all choices of k trials', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.nat(8),
        fc.integer({ min: 1, max: 8 }),
        (trials, some, wanted) => {
          const [passed, k] = [Math.min(some, trials), Math.min(wanted, trials)];
          const choices = subsets(Array.from({ length: trials }, (_, i) => i < passed)).filter(
            (choice) => choice.length === k,
          );
          const share = (fits: (choice: readonly boolean[]) => boolean): number =>
            choices.filter(fits).length / choices.length;
          expect(passAtK({ passed, trials }, k)).toBeCloseTo(
            share((choice) => choice.some(Boolean)),
            9,
          );
          expect(passAllK({ passed, trials }, k)).toBeCloseTo(
            share((choice) => choice.every(Boolean)),
            9,
          );
        },
      ),
    );
  });

  test('k = 1 is the pass rate; at least one gets likelier with k, and all less likely', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 200 }), fc.nat(200), (trials, some) => {
        const outcome = { passed: Math.min(some, trials), trials };
        expect(passAtK(outcome, 1)).toBeCloseTo(outcome.passed / trials, 9);
        expect(passAllK(outcome, 1)).toBeCloseTo(outcome.passed / trials, 9);
        for (let k = 2; k <= trials; k++) {
          expect(passAtK(outcome, k)).toBeGreaterThanOrEqual(passAtK(outcome, k - 1) - 1e-12);
          expect(passAllK(outcome, k)).toBeLessThanOrEqual(passAllK(outcome, k - 1) + 1e-12);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('cases with fewer than k trials are left out', () => {
    const cases = [
      { passed: 1, trials: 1 },
      { passed: 0, trials: 2 },
    ];
    expect(overCases(cases, [1, 2, 3], passAtK)).toEqual([
      { k: 1, value: 0.5 },
      { k: 2, value: 0 },
    ]);
  });
});

function subsets(values: readonly boolean[]): readonly (readonly boolean[])[] {
  const [first, ...rest] = values;
  if (first === undefined) return [[]];
  const others = subsets(rest);
  return [...others, ...others.map((other) => [first, ...other])];
}

describe('differences', () => {
  test('of pass rates have the interval of Newcombe', () => {
    // 36 pass with both, 12 only with the candidate, 2 with neither: 0.96 against 0.72. By hand
    // from the limits of Wilson and φ.
    const baseline = single([
      ...Array(36).fill(true),
      ...Array(12).fill(false),
      ...Array(2).fill(false),
    ]);
    const candidate = single([
      ...Array(36).fill(true),
      ...Array(12).fill(true),
      ...Array(2).fill(false),
    ]);
    const [low1, high1] = [wilson(0.72, 50, 0.95).low, wilson(0.72, 50, 0.95).high];
    const [low2, high2] = [wilson(0.96, 50, 0.95).low, wilson(0.96, 50, 0.95).high];
    const phi = (36 * 2 - 12 * 0) / Math.sqrt(48 * 2 * 36 * 14);
    const found = rateDifference({ baseline, candidate }, 0.95);
    expect(found.value).toBeCloseTo(0.24, 9);
    expect(found.low).toBeCloseTo(
      0.24 -
        Math.sqrt(
          (0.96 - low2) ** 2 - 2 * phi * (0.96 - low2) * (high1 - 0.72) + (high1 - 0.72) ** 2,
        ),
      9,
    );
    expect(found.high).toBeCloseTo(
      0.24 +
        Math.sqrt(
          (high2 - 0.96) ** 2 - 2 * phi * (high2 - 0.96) * (0.72 - low1) + (0.72 - low1) ** 2,
        ),
      9,
    );
    expect(found.significant).toBe(true);
    expect(found.pValue).toBeCloseTo(2 / 2 ** 12, 9);
  });

  test('of scores have the paired interval of Student where no score is at an edge', () => {
    const pairs = { baseline: [0.2, 0.4, 0.5, 0.6], candidate: [0.35, 0.45, 0.6, 0.8] };
    const measured = measureDifference(pairs, 0.95);
    const scored = scoreDifference(pairs, 0.95);
    expect(scored.low).toBeCloseTo(measured.low, 9);
    expect(scored.high).toBeCloseTo(measured.high, 9);
    expect(scored.pValue).toBeCloseTo(0.125, 9);
  });

  test('between equals are not significant', () => {
    fc.assert(
      fc.property(outcomes, (cases) => {
        const found = rateDifference({ baseline: cases, candidate: cases }, 0.95);
        expect(found).toMatchObject({ value: 0, significant: false, pValue: 1 });
      }),
    );
  });

  test('change their sign with their sides, lie in [-1, 1] and hold their value', () => {
    const pairsOfOutcomes = fc.array(fc.tuple(fc.nat(4), fc.nat(4)), {
      minLength: 1,
      maxLength: 25,
    });
    fc.assert(
      fc.property(pairsOfOutcomes, (found) => {
        const [a, b] = [
          found.map(([passed]) => ({ passed, trials: 4 })),
          found.map(([, passed]) => ({ passed, trials: 4 })),
        ];
        const there = rateDifference({ baseline: a, candidate: b }, 0.95);
        const back = rateDifference({ baseline: b, candidate: a }, 0.95);
        expect(there.value).toBeCloseTo(-back.value, 9);
        expect(there.low).toBeCloseTo(-back.high, 9);
        expect(there.low).toBeGreaterThanOrEqual(-1);
        expect(there.high).toBeLessThanOrEqual(1);
        expect(there.low).toBeLessThanOrEqual(there.value + 1e-12);
        expect(there.high).toBeGreaterThanOrEqual(there.value - 1e-12);
      }),
    );
  });

  test('one case tells nothing, however far apart the two are', () => {
    expect(measureDifference({ baseline: [100], candidate: [900] }, 0.95)).toMatchObject({
      value: 800,
      significant: false,
    });
    expect(scoreDifference({ baseline: [0], candidate: [1] }, 0.95).significant).toBe(false);
  });

  test('the interval holds the true difference about as often as it says', () => {
    // 400 evals of 25 cases each, from a random sequence that is always the same.
    let seed = 20_261_122;
    const next = (): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed / 2 ** 32;
    };
    let held = 0;
    for (let i = 0; i < 400; i++) {
      const cases = Array.from({ length: 25 }, () => {
        // Hard and easy cases, with which the candidate passes more often by 0.15.
        const hard = next() < 0.5;
        return [next() < (hard ? 0.3 : 0.7), next() < (hard ? 0.45 : 0.85)] as const;
      });
      const found = rateDifference(
        {
          baseline: single(cases.map(([one]) => one)),
          candidate: single(cases.map(([, one]) => one)),
        },
        0.95,
      );
      if (found.low <= 0.15 && 0.15 <= found.high) held++;
    }
    expect(held / 400).toBeGreaterThan(0.92);
    expect(held / 400).toBeLessThanOrEqual(1);
  });
});

test('correlation is 1 of a list with itself, -1 with its opposite, and 0 where nothing varies', () => {
  expect(correlation([1, 2, 4], [2, 4, 8])).toBeCloseTo(1, 12);
  expect(correlation([1, 2, 4], [-1, -2, -4])).toBeCloseTo(-1, 12);
  expect(correlation([1, 1], [0, 1])).toBe(0);
});
