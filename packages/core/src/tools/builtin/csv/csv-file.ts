import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { nearestName } from '../../../base/nearest-name.ts';
import { loadOptionalPackage } from '../../../base/optional-package.ts';
import { ToolFailure } from '../../errors.ts';
import type { OpenFile } from '../files/rooted-files.ts';
import { chunksOf } from '../files/text-lines.ts';

const delimiters = [',', ';', '\t', '|'] as const;
export type CsvDelimiter = (typeof delimiters)[number];

/** A CSV file with a header line. */
export interface CsvFile {
  readonly delimiter: CsvDelimiter;
  /**
   * Names of the columns: unnamed ones (and `__proto__`, which no object can have as a member) are
   * `column_3`, of equal ones the second is `name_2`.
   */
  readonly columns: readonly string[];
  /**
   * Yields the rows after the header, from the beginning each time; cells are trimmed unless they
   * are quoted.
   */
  rows(): AsyncIterable<readonly string[]>;
}

/**
 * Opens a CSV file: UTF-8, with or without byte order mark, any line ends, quoted cells with
 * doubled quotes. The delimiter is the most frequent of `,` `;` tab and `|` in the header.
 * @throws ToolFailure when it is empty, binary or has an open quote (this also while rows are read)
 */
export async function openCsv(file: OpenFile, signal?: AbortSignal): Promise<CsvFile> {
  const { parse } = await loadOptionalPackage(
    'csv-parse',
    'The tool queryCsv',
    () => import('csv-parse'),
  );
  const delimiter = await detectDelimiter(file, signal);
  async function* records(): AsyncIterable<readonly string[]> {
    // With tabs between cells, tabs cannot be trimmed.
    const options = {
      delimiter,
      trim: delimiter !== '\t',
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      max_record_size: 1_000_000,
    };
    const parser = parse(options);
    const reading = pipeline(Readable.from(copiedChunks(file, signal)), parser);
    // The iteration below throws the errors of the pipeline.
    reading.catch(() => undefined);
    try {
      yield* parser as AsyncIterable<string[]>;
    } catch (thrown) {
      throw readable(file, thrown);
    }
  }
  const columns = columnNames(file, await firstOf(records()));
  return { delimiter, columns, rows: () => withoutFirst(records()) };
}

async function* copiedChunks(
  file: OpenFile,
  signal: AbortSignal | undefined,
): AsyncIterable<Buffer> {
  for await (const chunk of chunksOf(file, signal)) yield Buffer.from(chunk);
}

async function detectDelimiter(
  file: OpenFile,
  signal: AbortSignal | undefined,
): Promise<CsvDelimiter> {
  const beginning = await firstOf(chunksOf(file, signal));
  const unquoted = (beginning?.toString('utf8') ?? '').replace(/"(?:[^"]|"")*"/g, '');
  const header = /[^\r\n]+/.exec(unquoted)?.[0] ?? '';
  let best: CsvDelimiter = ',';
  for (const candidate of delimiters) {
    if (header.split(candidate).length > header.split(best).length) best = candidate;
  }
  return best;
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}

async function* withoutFirst<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> {
  let isFirst = true;
  for await (const item of items) {
    if (!isFirst) yield item;
    isFirst = false;
  }
}

function columnNames(file: OpenFile, header: readonly string[] | undefined): readonly string[] {
  if (header === undefined)
    throw new ToolFailure(`"${file.path}" is empty: a CSV file begins with a header line.`, {
      errorType: 'empty_file',
    });
  const names: string[] = [];
  for (const [index, cell] of header.entries()) {
    const written = cell.trim();
    const name = written === '' || written === '__proto__' ? `column_${index + 1}` : written;
    let unique = name;
    for (let copy = 2; names.includes(unique); copy++) unique = `${name}_${copy}`;
    names.push(unique);
  }
  return names;
}

function readable(file: OpenFile, thrown: unknown): unknown {
  const { code, message } = thrown as { code?: unknown; message?: unknown };
  if (typeof code !== 'string' || !code.startsWith('CSV_')) return thrown;
  return new ToolFailure(`"${file.path}" is not valid CSV: ${String(message)}`, {
    errorType: 'parse_error',
    alternatives: ['Read the file as text with readFile to see what is wrong.'],
    cause: thrown,
  });
}

/**
 * Returns the index of a column by its name. Case may differ when only one column fits.
 * @throws ToolFailure that names the columns there are, and the nearest
 */
export function columnIndex(columns: readonly string[], name: string): number {
  const exact = columns.indexOf(name);
  if (exact >= 0) return exact;
  const folded = name.trim().toLowerCase();
  const alike = columns.flatMap((column, index) =>
    column.toLowerCase() === folded ? [index] : [],
  );
  if (alike[0] !== undefined && alike.length === 1) return alike[0];
  const nearest = nearestName(name, columns);
  const listed = columns.slice(0, 100).join(', ');
  throw new ToolFailure(`There is no column "${name.slice(0, 100)}". The columns are: ${listed}.`, {
    errorType: 'unknown_column',
    alternatives:
      nearest === undefined ? ['Use one of the columns.'] : [`Did you mean "${nearest}"?`],
    data: { columns: columns.slice(0, 100) },
  });
}
