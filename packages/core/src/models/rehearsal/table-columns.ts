import { isPlainObject } from '../../base/json.ts';

/** The first rows of a table. */
export interface TableSample {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** True when these are all rows. */
  readonly complete: boolean;
}

/**
 * The result of `queryCsv` as a sample; rows may be objects or lists. `undefined` when it has
 * another form.
 */
export function readSample(result: unknown): TableSample | undefined {
  if (!isPlainObject(result) || !Array.isArray(result['columns']) || !Array.isArray(result['rows']))
    return undefined;
  const columns = result['columns'].map(String);
  const rows = result['rows'].map((row: unknown) => {
    if (Array.isArray(row))
      return Object.fromEntries(columns.map((column, i) => [column, row[i] as unknown]));
    return isPlainObject(row) ? row : {};
  });
  const { rowCount } = result;
  return { columns, rows, complete: typeof rowCount === 'number' && rows.length >= rowCount };
}

/** The values that `queryCsv` grouped by. */
export function groupKeys(result: unknown): readonly string[] {
  const groups = isPlainObject(result) ? result['groups'] : undefined;
  return Array.isArray(groups)
    ? groups.flatMap((group) =>
        isPlainObject(group) && group['key'] !== '' ? [String(group['key'])] : [],
      )
    : [];
}

/** The different values of a column, as text, without empty ones. */
export function valuesOf(sample: TableSample, column: string): readonly string[] {
  const values = sample.rows
    .map((row) => String(row[column] ?? '').trim())
    .filter((value) => value !== '');
  return [...new Set(values)];
}

/** Lower-case words of a name: `paidAt`, `Paid at` and `paid_at` are the same. */
export function nameWords(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.endsWith('s') && !word.endsWith('ss') && !/(us|is)$/.test(word)
    ? word.slice(0, -1)
    : word;
}

/** A number as tables hold them: `1234.5`, `1,234.50`, `1.234,50 €`, `EUR 12`, `(12.30)`. */
const writtenNumber = new RegExp(
  [
    String.raw`^[-+(]?\s?(?:\p{Sc}`,
    String.raw`[A-Z]{3})?\s?[-+]?\d[\d.,'’\s]*(?:e[-+]?\d+)?\s?(?:\p{Sc}|[A-Z]{3}|%)?\)?$`,
  ].join('|'),
  'iu',
);
const writtenDate = /^\d{4}-\d{2}-\d{2}|^\d{1,2}[/.]\d{1,2}[/.]\d{2,4}$/;

function isNumeric(sample: TableSample, column: string): boolean {
  const values = valuesOf(sample, column);
  const numbers = values.filter((value) => writtenNumber.test(value) && !writtenDate.test(value));
  // A few cells such as "n/a" do not make it another column; queryCsv reports them.
  return numbers.length > values.length / 2;
}

const identifierWords = new Set([
  'id',
  'no',
  'nr',
  'number',
  'code',
  'year',
  'zip',
  'postcode',
  'phone',
  'index',
]);
const amountNames = (
  'amount total price value cost sum balance due revenue sales fee net gross payment ' +
  'salary budget spend quantity qty units hours'
).split(' ');
/** Words of a request for the action, not for its object. */
const statisticWords = new Set('total sum average mean value number amount cost'.split(' '));

/**
 * The column that the request wants to calculate with: one that it names, else one whose name means
 * an amount, else the only column of numbers.
 */
export function findAmountColumn(
  sample: TableSample,
  words: readonly string[],
): string | undefined {
  const numeric = sample.columns.filter(
    (column) =>
      isNumeric(sample, column) && !nameWords(column).some((word) => identifierWords.has(word)),
  );
  const named = (wanted: ReadonlySet<string>): string | undefined =>
    numeric.find((column) => nameWords(column).every((word) => wanted.has(singular(word)))) ??
    numeric.find((column) => nameWords(column).some((word) => wanted.has(singular(word))));
  const wanted = new Set(words.flatMap(nameWords).map(singular));
  const specific = named(new Set([...wanted].filter((word) => !statisticWords.has(word))));
  if (specific !== undefined) return specific;
  const explicit = named(wanted);
  if (explicit !== undefined) return explicit;
  for (const name of amountNames) {
    const column = numeric.find((candidate) =>
      nameWords(candidate).map(singular).includes(singular(name)),
    );
    if (column !== undefined) return column;
  }
  return numeric.length === 1 ? numeric[0] : undefined;
}

/**
 * The column that the user's words mean: the same words, else one that contains the last of them.
 */
export function findNamedColumn(sample: TableSample, wording: string): string | undefined {
  const wanted = nameWords(wording).map(singular);
  const same = sample.columns.find(
    (column) => nameWords(column).map(singular).join(' ') === wanted.join(' '),
  );
  if (same !== undefined) return same;
  const last = wanted.at(-1);
  return last === undefined
    ? undefined
    : sample.columns.find((column) => nameWords(column).map(singular).includes(last));
}

const stateNames = new Set(['status', 'state', 'stage', 'condition', 'situation', 'progress']);

/**
 * Columns that may hold a state of a row such as "paid" or "open": by a usual name, or because they
 * carry the word itself.
 */
export function findStateColumns(sample: TableSample, word: string): readonly string[] {
  const root = word.replace(/^un/, '');
  const isState = (column: string): boolean =>
    nameWords(column).some((part) => stateNames.has(part) || part === word || part === root);
  return sample.columns.filter(isState);
}

function isDate(sample: TableSample, column: string): boolean {
  const values = valuesOf(sample, column);
  return values.length > 0 && values.every((value) => writtenDate.test(value));
}

/** The only column of dates. */
export function findDateColumn(sample: TableSample): string | undefined {
  const [only, ...others] = sample.columns.filter((column) => isDate(sample, column));
  return others.length === 0 ? only : undefined;
}

/**
 * Values of the sample that the request mentions in lower case, as in "spent on food". Names of
 * columns do not count.
 */
export function findMentionedValues(
  sample: TableSample,
  words: readonly string[],
): readonly { readonly column: string; readonly value: string }[] {
  const free = new Set(words.filter((word) => word.length > 2));
  for (const column of sample.columns) for (const word of nameWords(column)) free.delete(word);
  return findTextColumns(sample).flatMap((column) =>
    valuesOf(sample, column).flatMap((value) =>
      free.has(value.toLowerCase()) ? [{ column, value }] : [],
    ),
  );
}

/** Columns of words, in which a value such as a country or a customer may be found. */
export function findTextColumns(sample: TableSample): readonly string[] {
  return sample.columns
    .filter(
      (column) =>
        valuesOf(sample, column).length > 0 &&
        !isNumeric(sample, column) &&
        !isDate(sample, column),
    )
    .slice(0, 6);
}
