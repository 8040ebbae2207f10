import { ToolFailure } from '../../errors.ts';
import { compareDecimals, type Decimal, readNumber } from '../calculate/decimal.ts';

export const conditionOperators = [
  '=',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  'contains',
  'empty',
  'not_empty',
] as const;
export type ConditionOperator = (typeof conditionOperators)[number];

export interface CsvCondition {
  readonly column: string;
  readonly op: ConditionOperator;
  readonly value?: string | number | boolean;
}

/**
 * Checks that a cell meets a condition. `undefined` when the two cannot be compared, which counts
 * as no.
 */
export type CellCheck = (cell: string, number: Decimal | undefined) => boolean | undefined;

/** @throws ToolFailure when the operator needs a value */
export function cellCheck({ column, op, value }: CsvCondition): CellCheck {
  if (op === 'empty') return (cell) => cell.trim() === '';
  if (op === 'not_empty') return (cell) => cell.trim() !== '';
  if (value === undefined) {
    throw new ToolFailure(`The condition on "${column}" with "${op}" needs a value.`, {
      errorType: 'validation_error',
      alternatives: ['Give "value", or use "empty" or "not_empty".'],
    });
  }
  const wanted = folded(String(value));
  if (op === 'contains') return (cell) => folded(cell).includes(wanted);
  const wantedNumber = readNumber(String(value), '.')?.value;
  if (op === '=' || op === '!=')
    return equalityCheck(op === '=', wanted, isIdentifier(value) ? undefined : wantedNumber);
  return orderCheck(op, wanted, wantedNumber);
}

/** True when a condition compares numbers, so that its column is read as such. */
export function comparesNumbers({ op, value }: CsvCondition): boolean {
  return (
    !['contains', 'empty', 'not_empty'].includes(op) &&
    value !== undefined &&
    readNumber(String(value), '.') !== undefined
  );
}

function folded(text: string): string {
  return text.trim().normalize('NFC').toLowerCase();
}

/** True for a text such as `"007"`, which is compared by its characters. */
function isIdentifier(value: string | number | boolean): boolean {
  return typeof value === 'string' && /^\s*0\d/.test(value);
}

function equalityCheck(
  equal: boolean,
  wanted: string,
  wantedNumber: Decimal | undefined,
): CellCheck {
  return (cell, number) => {
    const same =
      folded(cell) === wanted ||
      (wantedNumber !== undefined &&
        number !== undefined &&
        compareDecimals(number, wantedNumber) === 0);
    return same === equal;
  };
}

function orderCheck(
  op: '<' | '<=' | '>' | '>=',
  wanted: string,
  wantedNumber: Decimal | undefined,
): CellCheck {
  return (cell, number) => {
    const bothNumbers = number !== undefined && wantedNumber !== undefined;
    if (!bothNumbers && (wantedNumber !== undefined || cell.trim() === '')) return undefined;
    const order = bothNumbers
      ? compareDecimals(number, wantedNumber)
      : compareText(folded(cell), wanted);
    if (order === 0) return op === '<=' || op === '>=';
    return order < 0 ? op.startsWith('<') : op.startsWith('>');
  };
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
