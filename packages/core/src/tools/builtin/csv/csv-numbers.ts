import { type Decimal, type DecimalMark, readNumber } from '../calculate/decimal.ts';

/**
 * Reads the numbers of one column. `1,234` and `1.234` can be either a thousand or a fraction; the
 * other cells of the column decide. After all have been observed, `mark` is the decimal mark that
 * prevails, and `misread` is true when cells were read with another one.
 */
export class ColumnNumbers {
  readonly #assumed: DecimalMark;
  #points = 0;
  #commas = 0;
  #example: string | undefined;

  constructor(assumed: DecimalMark) {
    this.#assumed = assumed;
  }

  observe(cell: string): Decimal | undefined {
    const read = readNumber(cell, this.#assumed);
    if (read?.mark === '.') this.#points++;
    else if (read?.mark === ',') this.#commas++;
    else if (read?.mark === 'either') this.#example ??= cell.trim();
    return read?.value;
  }

  /** The decimal mark of most cells that leave no choice; without any, the assumed one. */
  get mark(): DecimalMark {
    if (this.#points === this.#commas) return this.#assumed;
    return this.#points > this.#commas ? '.' : ',';
  }

  /** True when cells were read with another decimal mark than the column has. */
  get misread(): boolean {
    return this.#example !== undefined && this.mark !== this.#assumed;
  }

  /** Returns a note on how cells were read, when nothing in the column decided it. */
  note(column: string): string | undefined {
    if (this.#example === undefined || this.#points + this.#commas > 0) return undefined;
    const meaning = this.#example.includes(this.#assumed)
      ? 'a decimal mark'
      : 'a thousands separator';
    return (
      `In "${column}", the "${this.#example.replace(/[^.,]/g, '')}" of "${this.#example}" ` +
      `was read as ${meaning}: nothing in the column decides it.`
    );
  }
}
