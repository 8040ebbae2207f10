import { type Decimal, type DecimalMark, readNumber } from '../calculate/decimal.ts';

/**
 * Reads the numbers of one column. `1,234` and `1.234` can be either a thousand or a fraction; the
 * other cells of the column decide: after all have been observed, `mark` tells which decimal mark
 * prevails, and whether cells were read otherwise.
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

  /** The decimal mark of most cells that leave no choice; without any, what was assumed. */
  get mark(): DecimalMark {
    if (this.#points === this.#commas) return this.#assumed;
    return this.#points > this.#commas ? '.' : ',';
  }

  /** Whether cells were read with another decimal mark than the column has. */
  get misread(): boolean {
    return this.#example !== undefined && this.mark !== this.#assumed;
  }

  /** How cells were read that nothing in the column decided. */
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
