import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Draws } from '../../../src/testing/simulation/draws.ts';
import { FaultPlan, faultName, usualRates } from '../../../src/testing/simulation/faults.ts';

const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const places = fc.string({ maxLength: 40 });

describe('draws', () => {
  test('depend on seed and place alone, not on the order', () => {
    fc.assert(
      fc.property(seeds, fc.array(places), (seed, all) => {
        const draws = new Draws(seed);
        const forwards = all.map((place) => draws.at(place));
        const backwards = all.toReversed().map((place) => new Draws(seed).at(place));
        expect(backwards.toReversed()).toEqual(forwards);
        for (const drawn of forwards) {
          expect(drawn).toBeGreaterThanOrEqual(0);
          expect(drawn).toBeLessThan(1);
        }
      }),
    );
  });

  test('stay between their limits', () => {
    fc.assert(
      fc.property(
        seeds,
        places,
        fc.integer({ min: -50, max: 50 }),
        fc.nat(50),
        (seed, place, least, more) => {
          const draws = new Draws(seed);
          const whole = draws.whole(place, least, least + more);
          expect(Number.isInteger(whole) && whole >= least && whole <= least + more).toBe(true);
          const delay = draws.delay(place, 1, 1 + more);
          expect(delay >= 1 && delay <= 1 + more).toBe(true);
          expect(['a', 'b', 'c']).toContain(draws.oneOf(place, ['a', 'b', 'c']));
        },
      ),
    );
  });

  test('are spread evenly, and each power of ten of a delay has the same share', () => {
    const draws = new Draws(7);
    const numbers = Array.from({ length: 10_000 }, (_, index) => draws.at(`place ${index}`));
    const low = numbers.filter((drawn) => drawn < 0.5).length;
    expect(low).toBeGreaterThan(4_700);
    expect(low).toBeLessThan(5_300);
    const delays = Array.from({ length: 10_000 }, (_, index) => draws.delay(`d${index}`, 1, 100));
    const short = delays.filter((delay) => delay < 10).length;
    expect(short).toBeGreaterThan(4_700);
    expect(short).toBeLessThan(5_300);
  });

  test('of a part differ from those of the whole', () => {
    fc.assert(
      fc.property(seeds, places, (seed, place) => {
        const draws = new Draws(seed);
        expect(draws.part('x').at(place)).toBe(draws.part('x').at(place));
        expect(draws.part('x').at(place)).not.toBe(draws.part('y').at(place));
      }),
    );
  });
});

describe('a plan of faults', () => {
  const kinds = Object.keys(usualRates) as (keyof typeof usualRates)[];
  const certain = Object.fromEntries(kinds.map((kind) => [kind, 10]));

  test('has a part of the kinds, and all kinds over many seeds', () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 30; seed++) {
      const plan = new FaultPlan(new Draws(seed), { rates: usualRates });
      for (const kind of kinds) if (plan.has(kind)) seen.add(kind);
    }
    expect(seen.size).toBe(kinds.length);
    const one = new FaultPlan(new Draws(1), { rates: usualRates });
    expect(kinds.filter((kind) => one.has(kind)).length).toBeLessThan(kinds.length);
  });

  test('counts the calls at each place, and leaves no draw to another', () => {
    fc.assert(
      fc.property(seeds, fc.array(fc.constantFrom('a', 'b', 'c')), (seed, visits) => {
        const plan = new FaultPlan(new Draws(seed), { rates: usualRates });
        const counts: Record<string, number> = {};
        for (const place of visits) {
          counts[place] = (counts[place] ?? 0) + 1;
          expect(plan.visit(place)).toBe(`${place}#${counts[place]}`);
        }
      }),
    );
  });

  test('lets only the allowed faults happen, and does not change them', () => {
    fc.assert(
      fc.property(seeds, fc.uniqueArray(places, { minLength: 1 }), (seed, all) => {
        const whole = new FaultPlan(new Draws(seed), { rates: certain });
        for (const place of all) for (const kind of kinds) whole.happens(kind, place);
        const only = new Set(whole.happened.map(faultName).filter((_, index) => index % 2 === 0));
        const part = new FaultPlan(new Draws(seed), { rates: certain, only });
        for (const place of all.toReversed()) for (const kind of kinds) part.happens(kind, place);
        expect(new Set(part.happened.map(faultName))).toEqual(only);
      }),
    );
  });

  test('has no fault when it is over, of a missing kind, or at a share of nothing', () => {
    const plan = new FaultPlan(new Draws(1), { rates: certain });
    const kind = kinds.find((one) => plan.has(one)) ?? 'stop';
    expect(plan.happens(kind, 'a', 0)).toBe(false);
    expect(plan.happens(kind, 'a')).toBe(true);
    plan.end();
    expect(plan.happens(kind, 'b')).toBe(false);
    const none = new FaultPlan(new Draws(1), { rates: {} });
    expect(kinds.some((one) => none.has(one) || none.happens(one, 'a'))).toBe(false);
  });
});
