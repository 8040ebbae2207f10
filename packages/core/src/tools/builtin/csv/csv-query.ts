import { ToolFailure } from '../../errors.ts';
import type { Decimal, DecimalMark } from '../calculate/decimal.ts';
import {
  type AggregateFunction,
  type AggregateValue,
  ColumnTotals,
  type CsvAggregate,
} from './csv-aggregate.ts';
import { type CellCheck, type CsvCondition, cellCheck, comparesNumbers } from './csv-condition.ts';
import { type CsvFile, columnIndex } from './csv-file.ts';
import { ColumnNumbers } from './csv-numbers.ts';

export interface CsvQuery {
  readonly select?: readonly string[];
  readonly where?: readonly CsvCondition[];
  readonly aggregate?: readonly CsvAggregate[];
  readonly groupBy?: string;
  readonly limit?: number;
}

export type CsvGroup = { readonly key: string; readonly count: number } & {
  readonly [aggregate: string]: AggregateValue;
};

/** Cells without the number that was expected: they are in no sum and meet no comparison. */
export interface SkippedCells {
  readonly column: string;
  readonly count: number;
  /** Number of empty ones. */
  readonly empty: number;
  /** Up to five of the others. */
  readonly examples: readonly string[];
}

export interface CsvQueryResult {
  readonly columns: readonly string[];
  /** Rows in the file. */
  readonly rowCount: number;
  /** Rows that meet the conditions; aggregates are over all of these. */
  readonly matched: number;
  readonly rows: readonly { readonly [column: string]: string }[];
  readonly aggregates?: { readonly [aggregate: string]: AggregateValue };
  /** In the order of their first row. */
  readonly groups?: readonly CsvGroup[];
  readonly skipped?: readonly SkippedCells[];
  /**
   * Rows with more or fewer cells than the header; missing cells count as empty, surplus ones as
   * nothing.
   */
  readonly irregularRows?: number;
  readonly notes?: readonly string[];
  /** There are more rows (or groups) than were given. */
  readonly truncated: boolean;
}

const mostGroups = 1_000;
const mostGroupsCounted = 100_000;

/**
 * Runs a query over a CSV file in one pass. A second pass follows when `1,234` means something else
 * in a column than was assumed (a thousand; in a file delimited by `;` a fraction).
 */
export async function runCsvQuery(file: CsvFile, query: CsvQuery): Promise<CsvQueryResult> {
  const assumed: DecimalMark = file.delimiter === ';' ? ',' : '.';
  const first = new CsvQueryRun(file, query, () => assumed);
  await first.readAll();
  if (!first.misread) return first.result();
  const second = new CsvQueryRun(file, query, (index) => first.markOf(index) ?? assumed);
  await second.readAll();
  return second.result();
}

interface PlannedAggregate {
  readonly fn: AggregateFunction;
  readonly key: string;
  readonly index: number | undefined;
}

interface GroupTotals {
  readonly key: string;
  rows: number;
  readonly totals: ReadonlyMap<number, ColumnTotals>;
}

class CsvQueryRun {
  readonly #file: CsvFile;
  readonly #limit: number;
  readonly #selected: readonly number[];
  readonly #conditions: readonly { readonly index: number; readonly check: CellCheck }[];
  readonly #aggregates: readonly PlannedAggregate[];
  /** Columns that have to be numbers. */
  readonly #computed: readonly number[];
  readonly #groupIndex: number | undefined;
  readonly #numbers: ReadonlyMap<number, ColumnNumbers>;
  readonly #all: GroupTotals;
  readonly #groups = new Map<string, GroupTotals>();
  readonly #skipped = new Map<number, { count: number; empty: number; examples: Set<string> }>();
  readonly #rows: { readonly [column: string]: string }[] = [];
  #rowCount = 0;
  #irregularRows = 0;

  constructor(file: CsvFile, query: CsvQuery, markOf: (index: number) => DecimalMark) {
    const { columns } = file;
    this.#file = file;
    this.#limit = query.limit ?? 50;
    this.#selected =
      query.select?.map((name) => columnIndex(columns, name)) ?? columns.map((_, index) => index);
    const where = query.where ?? [];
    this.#conditions = where.map((condition) => ({
      index: columnIndex(columns, condition.column),
      check: cellCheck(condition),
    }));
    this.#aggregates = (query.aggregate ?? []).map((aggregate) =>
      plannedAggregate(columns, aggregate),
    );
    this.#groupIndex =
      query.groupBy === undefined ? undefined : columnIndex(columns, query.groupBy);
    const compared = where.flatMap((condition, at) =>
      comparesNumbers(condition) ? (this.#conditions[at]?.index ?? []) : [],
    );
    this.#computed = [
      ...new Set(
        this.#aggregates.flatMap(({ fn, index }) =>
          fn === 'count' || index === undefined ? [] : [index],
        ),
      ),
    ];
    this.#numbers = new Map(
      [...compared, ...this.#computed].map((index) => [index, new ColumnNumbers(markOf(index))]),
    );
    this.#all = this.#emptyTotals('');
  }

  get misread(): boolean {
    return [...this.#numbers.values()].some((numbers) => numbers.misread);
  }

  markOf(index: number): DecimalMark | undefined {
    return this.#numbers.get(index)?.mark;
  }

  async readAll(): Promise<void> {
    for await (const row of this.#file.rows()) this.#read(row);
  }

  #read(row: readonly string[]): void {
    this.#rowCount++;
    if (row.length !== this.#file.columns.length) this.#irregularRows++;
    const numbers = new Map<number, Decimal | undefined>();
    for (const [index, column] of this.#numbers)
      numbers.set(index, column.observe(row[index] ?? ''));
    if (!this.#matches(row, numbers)) return;
    this.#aggregate(row, numbers);
    if (this.#rows.length < this.#limit) this.#rows.push(this.#rowObject(row));
  }

  #matches(row: readonly string[], numbers: ReadonlyMap<number, Decimal | undefined>): boolean {
    let matches = true;
    for (const { index, check } of this.#conditions) {
      const cell = row[index] ?? '';
      const met = check(cell, numbers.get(index));
      if (met === undefined) this.#skip(index, cell);
      if (met !== true) matches = false;
    }
    return matches;
  }

  #aggregate(row: readonly string[], numbers: ReadonlyMap<number, Decimal | undefined>): void {
    const group = this.#groupOf(row);
    for (const totals of group === undefined ? [this.#all] : [this.#all, group]) {
      totals.rows++;
      for (const [index, column] of totals.totals)
        column.add((row[index] ?? '').trim(), numbers.get(index));
    }
    for (const index of this.#computed) {
      if (numbers.get(index) === undefined) this.#skip(index, row[index] ?? '');
    }
  }

  #groupOf(row: readonly string[]): GroupTotals | undefined {
    if (this.#groupIndex === undefined) return undefined;
    const key = (row[this.#groupIndex] ?? '').trim();
    const folded = key.normalize('NFC').toLowerCase();
    let group = this.#groups.get(folded);
    if (group === undefined) {
      if (this.#groups.size >= mostGroupsCounted) throw tooManyGroups();
      group = this.#emptyTotals(key);
      this.#groups.set(folded, group);
    }
    return group;
  }

  #emptyTotals(key: string): GroupTotals {
    const indexes = this.#aggregates.flatMap(({ index }) => (index === undefined ? [] : [index]));
    return { key, rows: 0, totals: new Map(indexes.map((index) => [index, new ColumnTotals()])) };
  }

  #skip(index: number, cell: string): void {
    const skipped = this.#skipped.get(index) ?? { count: 0, empty: 0, examples: new Set<string>() };
    const text = cell.trim();
    skipped.count++;
    if (text === '') skipped.empty++;
    else if (skipped.examples.size < 5) skipped.examples.add(text.slice(0, 60));
    this.#skipped.set(index, skipped);
  }

  #rowObject(row: readonly string[]): { readonly [column: string]: string } {
    return Object.fromEntries(
      this.#selected.map((index) => [this.#file.columns[index] ?? '', row[index] ?? '']),
    );
  }

  result(): CsvQueryResult {
    const groups = [...this.#groups.values()];
    const skipped = this.#skippedCells();
    const notes = [...this.#numbers].flatMap(
      ([index, numbers]) => numbers.note(this.#file.columns[index] ?? '') ?? [],
    );
    return {
      columns: this.#file.columns,
      rowCount: this.#rowCount,
      matched: this.#all.rows,
      rows: this.#rows,
      ...(this.#aggregates.length > 0 ? { aggregates: this.#valuesOf(this.#all) } : undefined),
      ...(this.#groupIndex === undefined
        ? undefined
        : { groups: groups.slice(0, mostGroups).map((group) => this.#groupObject(group)) }),
      ...(skipped.length > 0 ? { skipped } : undefined),
      ...(this.#irregularRows > 0 ? { irregularRows: this.#irregularRows } : undefined),
      ...(notes.length > 0 ? { notes } : undefined),
      truncated: this.#all.rows > this.#rows.length || groups.length > mostGroups,
    };
  }

  #groupObject(group: GroupTotals): CsvGroup {
    return { key: group.key, count: group.rows, ...this.#valuesOf(group) };
  }

  #valuesOf(totals: GroupTotals): { readonly [aggregate: string]: AggregateValue } {
    return Object.fromEntries(
      this.#aggregates.map(({ fn, key, index }) => [
        key,
        index === undefined ? totals.rows : (totals.totals.get(index)?.value(fn) ?? null),
      ]),
    );
  }

  #skippedCells(): readonly SkippedCells[] {
    return [...this.#skipped].flatMap(([index, { count, empty, examples }]) =>
      this.#isComparedAsText(index)
        ? []
        : [{ column: this.#file.columns[index] ?? '', count, empty, examples: [...examples] }],
    );
  }

  /** True for minimum and maximum of a column of texts: then nothing was skipped. */
  #isComparedAsText(index: number): boolean {
    const onIt = this.#aggregates.filter(
      (aggregate) => aggregate.index === index && aggregate.fn !== 'count',
    );
    const ordersOnly = onIt.length > 0 && onIt.every(({ fn }) => fn === 'min' || fn === 'max');
    return (
      ordersOnly &&
      onIt.some(({ fn }) => typeof this.#all.totals.get(index)?.value(fn) === 'string')
    );
  }
}

function plannedAggregate(
  columns: readonly string[],
  { fn, column }: CsvAggregate,
): PlannedAggregate {
  if (column !== undefined) {
    const index = columnIndex(columns, column);
    return { fn, index, key: `${fn}(${columns[index]})` };
  }
  if (fn === 'count') return { fn, index: undefined, key: 'count' };
  throw new ToolFailure(
    `The aggregate "${fn}" needs a column. The columns are: ${columns.join(', ')}.`,
    { errorType: 'validation_error' },
  );
}

function tooManyGroups(): ToolFailure {
  return new ToolFailure(`There are more than ${mostGroupsCounted} groups.`, {
    errorType: 'too_large',
    alternatives: ['Narrow it with "where", or group by another column.'],
  });
}
