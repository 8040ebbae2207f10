import {
  addDecimals,
  compareDecimals,
  type Decimal,
  decimalToNumber,
} from '../calculate/decimal.ts';
import { compareText } from './csv-condition.ts';

export const aggregateFunctions = ['sum', 'avg', 'min', 'max', 'count'] as const;
export type AggregateFunction = (typeof aggregateFunctions)[number];

export interface CsvAggregate {
  readonly fn: AggregateFunction;
  /**
   * Needed by all but `count`, which without it counts rows and with it the cells that are not
   * empty.
   */
  readonly column?: string;
}

/** `null` when there was nothing to compute from. */
export type AggregateValue = number | string | null;

/** Totals of the cells of one column. */
export class ColumnTotals {
  #sum: Decimal = { digits: 0n, scale: 0 };
  #numbers = 0;
  #least: Decimal | undefined;
  #greatest: Decimal | undefined;
  #texts = 0;
  #firstText: string | undefined;
  #lastText: string | undefined;

  add(cell: string, number: Decimal | undefined): void {
    if (number !== undefined) this.#addNumber(number);
    else if (cell !== '') this.#addText(cell);
  }

  #addNumber(number: Decimal): void {
    this.#numbers++;
    this.#sum = addDecimals(this.#sum, number);
    if (this.#least === undefined || compareDecimals(number, this.#least) < 0) this.#least = number;
    if (this.#greatest === undefined || compareDecimals(number, this.#greatest) > 0)
      this.#greatest = number;
  }

  #addText(text: string): void {
    this.#texts++;
    if (this.#firstText === undefined || compareText(text, this.#firstText) < 0)
      this.#firstText = text;
    if (this.#lastText === undefined || compareText(text, this.#lastText) > 0)
      this.#lastText = text;
  }

  /**
   * Returns an aggregate. Sums are exact; minimum and maximum of a column without any number are
   * those of its texts, such as ISO dates.
   */
  value(fn: AggregateFunction): AggregateValue {
    if (fn === 'count') return this.#numbers + this.#texts;
    if (this.#numbers === 0)
      return fn === 'min'
        ? (this.#firstText ?? null)
        : fn === 'max'
          ? (this.#lastText ?? null)
          : null;
    if (fn === 'sum') return decimalToNumber(this.#sum);
    if (fn === 'avg') return average(this.#sum, this.#numbers);
    const found = fn === 'min' ? this.#least : this.#greatest;
    return found === undefined ? null : decimalToNumber(found);
  }
}

/** Returns the average to 15 digits, beyond which a JavaScript number has only noise. */
function average({ digits, scale }: Decimal, count: number): number {
  const guardDigits = 18;
  const quotient = (digits * 10n ** BigInt(guardDigits)) / BigInt(count);
  return Number(decimalToNumber({ digits: quotient, scale: scale + guardDigits }).toPrecision(15));
}
