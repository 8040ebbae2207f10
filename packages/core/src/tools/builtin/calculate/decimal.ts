/** An exact decimal number: `digits / 10 ** scale`. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

export type DecimalMark = '.' | ',';

/**
 * A number found in a text, with its decimal mark: `either` when `1,234` might be 1234 or 1.234.
 */
export interface WrittenNumber {
  readonly value: Decimal;
  readonly mark: DecimalMark | 'either' | undefined;
}

/** Most characters of a number; longer texts are not read as numbers. */
const longestNumber = 60;

const currencyCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
const currency = String.raw`[A-Z]{0,3}\p{Sc}|[A-Z]{3}`;
const digits = String.raw`[\d.,][\d.,'’ ]*(?:[eE][+-]?\d{1,2})?`;
const writtenNumber = new RegExp(
  [
    `^(?<sign>[+-])? ?(?<before>${currency})? ?`,
    `(?<innerSign>[+-])?(?<number>${digits}) ?(?<after>${currency}|%)?$`,
  ].join(''),
  'u',
);

/**
 * Reads a number as people and exports write them: `1234.5`, `1,234.50`, `1.234,50`, `1 234,50`,
 * `1'234.50`, `1.5e3`, `-3`, `(12.30)` for a negative one. A currency (`$12.30`, `12 €`, `EUR 12`)
 * or `%` is left out: `15%` is 15.
 * @param preferred decimal mark for `1,234` and `1.234`, which can be either
 * @returns `undefined` for everything else
 */
export function readNumber(text: string, preferred: DecimalMark): WrittenNumber | undefined {
  if (text.length > longestNumber) return undefined;
  const plain = text
    .trim()
    .replace(/[\u00a0\u2009\u202f]/g, ' ')
    .replace('\u2212', '-');
  const inParentheses = /^\((.+)\)$/.exec(plain)?.[1];
  const parts = writtenNumber.exec(inParentheses ?? plain)?.groups;
  if (parts === undefined || parts['number'] === undefined) return undefined;
  const { sign, innerSign, before, after, number } = parts;
  if (!isCurrency(before) || !isCurrency(after) || (before !== undefined && after !== undefined))
    return undefined;
  if (sign !== undefined && (innerSign !== undefined || inParentheses !== undefined))
    return undefined;
  const read = readUnsigned(number.trim(), preferred);
  const negative = sign === '-' || innerSign === '-' || inParentheses !== undefined;
  return read !== undefined && negative
    ? { ...read, value: { ...read.value, digits: -read.value.digits } }
    : read;
}

function isCurrency(mark: string | undefined): boolean {
  return mark === undefined || !/^[A-Z]{3}$/.test(mark) || currencyCodes.has(mark);
}

function readUnsigned(text: string, preferred: DecimalMark): WrittenNumber | undefined {
  if (/^\d+$/.test(text)) return { value: decimal(text, '', 0), mark: undefined };
  const scientific = /^(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(text);
  if (scientific)
    return {
      value: decimal(scientific[1] ?? '', scientific[2] ?? '', Number(scientific[3])),
      mark: scientific[2] === undefined ? undefined : '.',
    };
  if (/^[1-9]\d{0,2}[.,]\d{3}$/.test(text))
    return { value: withMark(text, preferred), mark: 'either' };
  const mark = markOf(text);
  return mark === undefined
    ? undefined
    : {
        value: withMark(text, mark === 'none' ? preferred : mark),
        mark: mark === 'none' ? undefined : mark,
      };
}

/** Patterns of numbers whose decimal mark is certain. */
const writings: readonly (readonly [RegExp, DecimalMark | 'none'])[] = [
  [/^\d*\.\d+$|^\d+\.$/, '.'],
  [/^\d*,\d+$/, ','],
  [/^\d{1,3}(,\d{3})+\.\d+$|^\d{1,3}(,\d{3}){2,}$|^\d{1,2}(,\d\d)+,\d{3}(\.\d+)?$/, '.'],
  [/^\d{1,3}(\.\d{3})+,\d+$|^\d{1,3}(\.\d{3}){2,}$/, ','],
  [/^\d{1,3}([ '’]\d{3})+$/, 'none'],
  [/^\d{1,3}([ '’]\d{3})+\.\d+$/, '.'],
  [/^\d{1,3}([ '’]\d{3})+,\d+$/, ','],
];

function markOf(text: string): DecimalMark | 'none' | undefined {
  return writings.find(([pattern]) => pattern.test(text))?.[1];
}

function withMark(text: string, mark: DecimalMark): Decimal {
  const at = text.lastIndexOf(mark);
  const whole = at < 0 ? text : text.slice(0, at);
  return decimal(whole.replace(/\D/g, ''), at < 0 ? '' : text.slice(at + 1), 0);
}

function decimal(whole: string, fraction: string, exponent: number): Decimal {
  const scale = fraction.length - exponent;
  const digits = BigInt(`${whole}${fraction}` || '0');
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 };
}

export function addDecimals(left: Decimal, right: Decimal): Decimal {
  const scale = Math.max(left.scale, right.scale);
  return { digits: scaledTo(left, scale) + scaledTo(right, scale), scale };
}

/** Compares two decimals: negative, zero or positive, as a sort function returns. */
export function compareDecimals(left: Decimal, right: Decimal): number {
  const scale = Math.max(left.scale, right.scale);
  const difference = scaledTo(left, scale) - scaledTo(right, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function scaledTo({ digits, scale }: Decimal, wanted: number): bigint {
  return scale === wanted ? digits : digits * 10n ** BigInt(wanted - scale);
}

/** Returns the nearest JavaScript number. */
export function decimalToNumber({ digits, scale }: Decimal): number {
  return Number(`${digits}e-${scale}`);
}
