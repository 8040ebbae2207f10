import fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDistance, nearestName } from './nearest-name.ts';

const names = ['readFile', 'listFiles', 'searchFiles', 'queryCsv', 'math.calculate', 'currentTime'];

test.each([
  ['readfile', 'readFile'],
  ['read_file', 'readFile'],
  ['raedFile', 'readFile'],
  ['list_file', 'listFiles'],
  ['calculate', 'math.calculate'],
  ['math_calculate', 'math.calculate'],
  ['calcualte', 'math.calculate'],
  ['sendEmail', undefined],
  ['', undefined],
  ['x', undefined],
])('%s is nearest to %s', (name, expected) => {
  expect(nearestName(name, names)).toBe(expected);
});

test('the first of equally near candidates wins, and there may be none', () => {
  expect(nearestName('amoun', ['amount', 'amouns'])).toBe('amount');
  expect(nearestName('amount', [])).toBeUndefined();
});

test.each([
  ['z', undefined],
  ['X', 'x'],
  ['zz', undefined],
])('of the one-letter names x and y, %s is nearest to %s', (name, expected) => {
  expect(nearestName(name, ['x', 'y'])).toBe(expected);
});

test('a name of a million characters is answered', () => {
  expect(nearestName('x'.repeat(1_000_000), names)).toBeUndefined();
});

test.each([
  ['', '', 0],
  ['abc', '', 3],
  ['ab', 'ba', 1],
  ['kitten', 'sitting', 3],
  ['ca', 'abc', 3],
])('distance of %j and %j is %i', (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance);
});

test('distance is symmetric, zero for equal words only, and at most the longer length', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
      const distance = editDistance(a, b);
      expect(editDistance(b, a)).toBe(distance);
      expect(distance === 0).toBe(a === b);
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});
