import { callTool } from 'adjutant/testing';
import fc from 'fast-check';
import * as library from 'mathjs/number';
import { describe, expect, test } from 'vitest';
import { evaluateArithmetic } from './arithmetic.ts';
import { calculate } from './calculate.ts';

const evaluated = async (expression: unknown) => callTool(calculate(), { expression });

describe('calculate', () => {
  test.each<[string, number]>([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['-2^2', -4],
    ['2^3^2', 512],
    ['2^-1', 0.5],
    ['10 / 4', 2.5],
    ['0.1 + 0.2', 0.3],
    ['1.005 * 100', 100.5],
    ['1/3', 0.333333333333333],
    ['9007199254740991', 9_007_199_254_740_991],
    ['.5 + 5.', 5.5],
    ['1e3 + 0x10', 1_016],
    ['2 pi', 6.28318530717959],
    ['2(3 + 4)', 14],
    ['6 × 7 ÷ 2 − 1', 20],
    ['cos(π)', -1],
    ['5!', 120],
    ['round(2.675, 2)', 2.68],
    ['round(2.5)', 3],
    ['sqrt(16) + abs(-3)', 7],
    ['max(1, 2, 3) - min(4, 5)', -1],
    ['sum(1, 2, 3) + mean(1, 2, 3) + avg(4, 6)', 13],
    ['ln(e)', 1],
    ['log(8, 2)', 3],
    ['17 mod 5', 2],
    ['mod(17, 5)', 2],
  ])('%s is %d', async (expression, result) => {
    expect(await evaluated(expression)).toEqual({
      status: 'success',
      content: { expression, result },
    });
  });

  test.each<[string, number]>([
    ['15% of 200', 30],
    ['15 % OF 200', 30],
    ['20% of 50% of 300', 30],
    ['15% of 200 + 10', 40],
    ['200 + 15% of 100', 215],
    ['15% of (150 + 50)', 30],
    ['200 + 15%', 230],
    ['200 - 10%', 180],
    ['200 + 15% + 10', 240],
    ['200+10%-10%', 198],
    ['200 * 15%', 30],
    ['200 * (1 + 15%)', 230],
    ['100 + (10 + 5)%', 115],
    ['50% + 50%', 1],
    ['10% + 5%', 0.15],
    ['-15%', -0.15],
    ['15%', 0.15],
    ['17 % 5', 2],
    ['17%5', 2],
    ['-7 % 3', 2],
    ['17 % (2 + 3)', 2],
  ])('percentages and remainders: %s is %d', async (expression, result) => {
    expect(await evaluated(expression)).toEqual({
      status: 'success',
      content: { expression, result },
    });
  });

  test('a result that cannot be held exactly says so', async () => {
    expect(await evaluated('2^60 + 1')).toMatchObject({
      status: 'success',
      content: { note: expect.stringContaining('rounded') },
    });
  });

  test.each<[string, string]>([
    ['prototype', 'cos.constructor("return process")()'],
    ['member access', 'pi.constructor'],
    ['index access', 'e["constructor"]'],
    ['constructor by name', 'constructor'],
    ['constructor called', 'constructor(1)'],
    ['__proto__', '__proto__'],
    ['__proto__ called', '__proto__(1)'],
    ['toString', 'toString()'],
    ['valueOf', 'valueOf(1)'],
    ['import', 'import({a: 1})'],
    ['import without quotes', 'import(1)'],
    ['createUnit', 'createUnit(1)'],
    ['evaluate', 'evaluate("1+1")'],
    ['parse', 'parse("1")'],
    ['simplify', 'simplify("x")'],
    ['derivative', 'derivative("x^2", "x")'],
    ['compile', 'compile(1)'],
    ['config', 'config(1)'],
    ['help', 'help(sin)'],
    ['random', 'random()'],
    ['combinations', 'combinations(1000000000, 500000000)'],
    ['range', 'range(0, 1000000000)'],
    ['assignment', 'a = 1'],
    ['assignment to a function', 'sqrt = 3'],
    ['function definition', 'f(x) = f(x + 1)'],
    ['call of a call', 'f(1)(2)'],
    ['two expressions', '1; 2'],
    ['two lines', '1\n2'],
    ['matrix', '[1, 2]'],
    ['object', '{a: 1}'],
    ['range syntax', '1:1000000000'],
    ['condition', '1 ? 2 : 3'],
    ['comparison', '1 == 1'],
    ['logic', 'true and false'],
    ['boolean', 'true'],
    ['bits', '1 << 40'],
    ['text', '"abc"'],
    ['quoted', "'abc'"],
    ['transpose', "2'"],
    ['template', '`1`'],
    ['comment', '# nothing'],
    ['unit', '5 cm'],
    ['conversion', '5 to 3'],
    ['variable', 'x + 1'],
    ['thousands separator', '1,234 * 2'],
    ['spaces in a number', '1 000 + 1'],
    ['two points', '1.2.3'],
    ['missing operand', '1 +'],
    ['missing parenthesis', '(1 + 2'],
    ['empty parentheses', '()'],
    ['only spaces', '   '],
    ['full-width letters', 'ｃｏｓ(1)'],
    ['invisible characters', '1\u200b+\u200b1'],
    ['root sign', '√4'],
    ['other digits', '١ + ١'],
    ['escape', '\\u0063os(1)'],
    ['huge power', '9^9^9^9'],
    ['infinity', '1e999'],
    ['Infinity', 'Infinity'],
    ['NaN', 'NaN'],
    ['division by zero', '1 / 0'],
    ['no real root', 'sqrt(-1)'],
    ['huge factorial', '100000!'],
    ['fractional factorial', '2.5!'],
    ['tower of factorials', '9!!!!'],
    ['wrong number of arguments', 'sqrt(1, 2, 3)'],
    ['gcd of fractions', 'gcd(1.5, 2)'],
    ['long', '1+'.repeat(400)],
    ['deep', `${'('.repeat(10_000)}1${')'.repeat(10_000)}`],
    ['JavaScript', 'process.exit(1)'],
    ['arrow function', '(() => 1)()'],
    ['new', 'new Function(1)'],
  ])('refuses: %s', async (_, expression) => {
    expect(await evaluated(expression)).toMatchObject({
      status: 'error_permanent',
      errorType: 'invalid_expression',
    });
  });

  test('as deep as the length allows is fine', async () => {
    expect(await evaluated(`${'('.repeat(240)}1${')'.repeat(240)}`)).toMatchObject({
      content: { result: 1 },
    });
  });

  test('failures say what to do instead', async () => {
    expect((await evaluated('1,234 * 2')).alternatives).toContainEqual(
      expect.stringContaining('without thousands separators'),
    );
    expect((await evaluated('sqroot(2)')).alternatives).toContainEqual(
      expect.stringContaining('Did you mean sqrt'),
    );
    expect((await evaluated('5 cm')).alternatives).toContainEqual(expect.stringContaining('Units'));
  });

  test.each([undefined, 12, '', null])(
    'expression %j is refused by the schema',
    async (expression) => {
      expect(await evaluated(expression)).toMatchObject({
        status: 'error_permanent',
        errorType: 'validation_error',
      });
    },
  );

  test('whatever is written: a finite number or a refusal', () => {
    const symbols = fc.constantFrom(
      ...'0123456789.+-*/^%!()[]{}=:;,?<>&|~ eπ'.split(''),
      ' of ',
      'sqrt',
      'max(',
      'constructor',
      '.',
      '"',
      'f(x)=',
    );
    fc.assert(
      fc.property(fc.array(symbols, { maxLength: 40 }), (parts) => {
        try {
          expect(Number.isFinite(evaluateArithmetic(library, parts.join('')))).toBe(true);
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'tool_failure', errorType: 'invalid_expression' });
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('agrees with JavaScript on sums and products', () => {
    const number = fc.integer({ min: -1_000, max: 1_000 });
    fc.assert(
      fc.property(number, number, number, (a, b, c) => {
        expect(evaluateArithmetic(library, `(${a}) + ${b} * (${c})`)).toBe(a + b * c + 0);
      }),
    );
  });

  test('may be run again and changes nothing', () => {
    expect(calculate()).toMatchObject({ name: 'calculate', readOnly: true, recovery: 'rerun' });
  });
});
