import fc from 'fast-check';
import { expect, test } from 'vitest';
import { castAnswer } from './cast-answer.ts';

test.each([
  ['42', 42],
  [' -3.5\n', -3.5],
  ['+7', 7],
  ['1e3', 1000],
  ['.5', 0.5],
  ['12.', 12],
  ['1,234,567.8', 1_234_567.8],
  ['"42"', 42],
  ['**42**', 42],
  ['`42`.', 42],
  ['', undefined],
  ['-', undefined],
  ['1,23', undefined],
  ['12 apples', undefined],
  ['The answer is 42', undefined],
  ['NaN', undefined],
  ['Infinity', undefined],
  ['1e999', undefined],
  ['0x10', undefined],
  ['1'.repeat(101), undefined],
])('the number in %j is %s', (text, expected) => {
  expect(castAnswer(text, 'number')).toBe(expected);
});

test.each([
  ['true', true],
  ['True.', true],
  ['YES', true],
  ['"no"', false],
  ['false', false],
  ['1', undefined],
  ['maybe', undefined],
  ['true or false', undefined],
  ['', undefined],
])('what %j says is %s', (text, expected) => {
  expect(castAnswer(text, 'boolean')).toBe(expected);
});

test('every number reads back as it is written', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(castAnswer(String(value), 'number')).toBe(Number(String(value)));
    }),
  );
});
