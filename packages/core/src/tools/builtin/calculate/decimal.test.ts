import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  decimalToNumber,
  readNumber,
} from './decimal.ts';

describe('readNumber', () => {
  test.each<[string, number]>([
    ['0', 0],
    ['42', 42],
    ['007', 7],
    [' 12.5 ', 12.5],
    ['-3', -3],
    ['+3', 3],
    ['\u22123', -3],
    ['.5', 0.5],
    ['5.', 5],
    ['0.125', 0.125],
    ['0,125', 0.125],
    ['1234.567', 1_234.567],
    ['12,5', 12.5],
    ['1,234.50', 1_234.5],
    ['1.234,50', 1_234.5],
    ['1,234,567', 1_234_567],
    ['1.234.567', 1_234_567],
    ['1,234,567.89', 1_234_567.89],
    ['12,34,567.89', 1_234_567.89],
    ['1 234,50', 1_234.5],
    ['1\u00a0234\u202f567,5', 1_234_567.5],
    ["1'234.50", 1_234.5],
    ['$12.30', 12.3],
    ['-$12.30', -12.3],
    ['$-12.30', -12.3],
    ['US$ 12.30', 12.3],
    ['12 €', 12],
    ['12,30 €', 12.3],
    ['EUR 12', 12],
    ['12 CHF', 12],
    ['($1,234.50)', -1_234.5],
    ['15%', 15],
    ['12.5 %', 12.5],
    ['1.5e3', 1_500],
    ['2E-2', 0.02],
  ])('%j is %d', (text, value) => {
    const read = readNumber(text, '.');
    expect(read && decimalToNumber(read.value)).toBe(value);
  });

  test.each([
    ...[
      '',
      ' ',
      '-',
      '.',
      ',',
      'n/a',
      'abc',
      '12a',
      'a12',
      '1.2.3',
      '1,2,3',
      '12,34.5',
      '1,23.4',
      '1.23,4',
      '1..2',
      '--1',
      '+-1',
      '-(1)',
    ],
    ...[
      '2026-11-21',
      '21.11.2026',
      '10:30',
      'INV 12',
      '$12€',
      '12 apples',
      '1 23',
      '1  234',
      '0x10',
      'Infinity',
      'NaN',
      '1e999',
      '1e',
      '½',
      '١٢',
      '$',
      '%',
    ],
    '1'.repeat(61),
  ])('%j is not a number', (text) => {
    expect(readNumber(text, '.')).toBeUndefined();
  });

  test.each<[string, number, number]>([
    ['1,234', 1_234, 1.234],
    ['1.234', 1.234, 1_234],
    ['-12,345', -12_345, -12.345],
    ['€ 1.500', 1.5, 1_500],
  ])('%j is %d with a decimal point and %d with a decimal comma', (text, withPoint, withComma) => {
    const point = readNumber(text, '.');
    const comma = readNumber(text, ',');
    expect([point?.mark, comma?.mark]).toEqual(['either', 'either']);
    expect(point && decimalToNumber(point.value)).toBe(withPoint);
    expect(comma && decimalToNumber(comma.value)).toBe(withComma);
  });

  test('what is written in one locale is read back, whatever the other cells suggest', () => {
    const cents = fc.integer({ min: -1_000_000_000, max: 1_000_000_000 });
    const locale = fc.constantFrom('en-US', 'de-DE', 'fr-FR', 'de-CH', 'en-IN');
    fc.assert(
      fc.property(
        cents,
        locale,
        fc.constantFrom<'.' | ','>('.', ','),
        (amount, chosen, preferred) => {
          const text = (amount / 100).toLocaleString(chosen, { minimumFractionDigits: 2 });
          const read = readNumber(text, preferred);
          expect(read && decimalToNumber(read.value)).toBe(amount / 100 + 0);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('decimals', () => {
  const decimal = fc.record({
    digits: fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
    scale: fc.integer({ min: 0, max: 6 }),
  });
  const asMicros = ({ digits, scale }: Decimal) => digits * 10n ** BigInt(6 - scale);

  test('sums and comparisons are exact', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        expect(asMicros(addDecimals(a, b))).toBe(asMicros(a) + asMicros(b));
        expect(Math.sign(compareDecimals(a, b))).toBe(
          asMicros(a) < asMicros(b) ? -1 : asMicros(a) > asMicros(b) ? 1 : 0,
        );
      }),
    );
    expect(decimalToNumber(addDecimals({ digits: 1n, scale: 1 }, { digits: 2n, scale: 1 }))).toBe(
      0.3,
    );
  });
});
