import { isPlainObject, type JsonObject } from '../../base/json.ts';
import type { Statistic } from './request.ts';
import type { TableSample } from './table-columns.ts';

/** The last line of every answer. */
export const disclaimer = '(rehearsal model: rules, not a language model)';

const capabilityLines: readonly string[] = [
  'I am the rehearsal model: rules, not a language model. I understand a handful of requests and ' +
    'answer them with tools:',
  '- arithmetic and percentages: "What is 15% of 80?"',
  '- the time: "What time is it in Tokyo?"',
  '- files: "List the files in examples", "Read README.md", "Search for TODO in docs"',
  '- CSV files: "Add up the unpaid invoices in invoices.csv", ' +
    '"What is the average price in orders.csv where country is France?"',
  '- a web page: "Fetch https://example.com"',
  '- a tool of yours, with its arguments: "Use remind {"invoice":"A-1"}"',
  '- several of them in one sentence: "… and tell me 15% of the total"',
  'For anything else set OPENAI_API_KEY, GEMINI_API_KEY or ANTHROPIC_API_KEY, or name a model ' +
    'with --model or ADJUTANT_MODEL (for example ollama:qwen3 for a local one).',
];

/** The answer to a message that the model does not understand. */
export const capabilities = capabilityLines.join('\n');

/** Formats a number as people write it, without the noise of binary fractions. */
export function formatNumber(value: number): string {
  return String(Number(value.toFixed(6)));
}

const statisticNames: { readonly [Name in Statistic]: string } = {
  sum: 'sum',
  avg: 'average',
  min: 'smallest',
  max: 'largest',
  count: 'number',
  rows: 'rows',
};

interface Aggregate {
  readonly statistic: Statistic;
  readonly column: string;
  readonly path: string;
  readonly where: readonly JsonObject[];
  readonly value: number;
  readonly matched: number | undefined;
}

/** Names a statistic, such as "sum of amount", "largest amount", "number of rows". */
export function describeStatistic(statistic: Statistic, column: string | undefined): string {
  if (column === undefined) return 'number of rows';
  const preposition = statistic === 'min' || statistic === 'max' ? '' : 'of ';
  return `${statisticNames[statistic]} ${preposition}${column}`;
}

export function describeGroups(title: string, aggregate: string, result: unknown): string {
  const lines = listIn(result, 'groups').map((group) => {
    const value = group[aggregate] ?? group['count'];
    const shown = typeof value === 'number' ? formatNumber(value) : String(value);
    return `- ${String(group['key']) || '(empty)'}: ${shown}`;
  });
  return [title, ...lines].join('\n');
}

export function describeAggregate({
  statistic,
  column,
  path,
  where,
  value,
  matched,
}: Aggregate): string {
  const what = `The ${describeStatistic(statistic, column)}`;
  const rows =
    matched === undefined ? 'the rows' : `${matched === 1 ? 'the one row' : `the ${matched} rows`}`;
  return `${what} over ${rows} of ${path}${describeWhere(where)} is ${formatNumber(value)}.`;
}

export function describeCount(path: string, where: readonly JsonObject[], matched: number): string {
  return `${path} has ${matched} ${matched === 1 ? 'row' : 'rows'}${describeWhere(where)}.`;
}

export function describeRows(
  path: string,
  where: readonly JsonObject[],
  matched: number,
  shown: TableSample | undefined,
): string {
  const columns = shown?.columns ?? [];
  const lines = (shown?.rows ?? []).map(
    (row) => `- ${columns.map((column) => `${column}: ${String(row[column] ?? '')}`).join(', ')}`,
  );
  const more = matched > lines.length ? [`(the first ${lines.length} of them)`] : [];
  return [describeCount(path, where, matched), ...lines, ...more].join('\n');
}

/** Returns the remarks of `queryCsv`: cells that it could not count, and how it read numbers. */
export function describeRemarks(result: unknown): string {
  const skipped = listIn(result, 'skipped').map(({ column, count, examples }) => {
    const such =
      Array.isArray(examples) && examples.length > 0 ? ` (such as "${String(examples[0])}")` : '';
    return (
      ` Not counted: ${String(count)} ${count === 1 ? 'cell' : 'cells'} of ${String(column)} ` +
      `without a number${such}.`
    );
  });
  const notes =
    isPlainObject(result) && Array.isArray(result['notes'])
      ? result['notes'].map((note) => ` ${String(note)}`)
      : [];
  return [...skipped, ...notes].join('');
}

export function describeWhere(where: readonly JsonObject[]): string {
  if (where.length === 0) return '';
  const parts = where.map(({ column, op, value }) => {
    if (op === 'empty') return `${String(column)} is empty`;
    return op === 'not_empty'
      ? `${String(column)} is not empty`
      : `${String(column)} ${String(op)} ${String(value)}`;
  });
  return ` where ${parts.join(' and ')}`;
}

const longestText = 2_000;

/** Returns a text of a file or a page, shortened. */
export function describeText(source: string, text: string): string {
  const shown =
    text.length <= longestText
      ? text
      : `${text.slice(0, longestText)}\n… (${text.length - longestText} more characters)`;
  return `${source}:\n${shown}`;
}

export function describeFiles(place: string, result: unknown): string {
  const files = listIn(result, 'files').map(({ path, size }) => {
    const bytes = typeof size === 'number' ? ` (${size} bytes)` : '';
    return `- ${String(path)}${bytes}`;
  });
  return files.length === 0
    ? `There are no files ${place}.`
    : [`Files ${place}:`, ...files].join('\n');
}

export function describeMatches(query: string, place: string, result: unknown): string {
  const matches = listIn(result, 'matches').map(
    (match) =>
      `- ${String(match['path'])}:${String(match['line'])}: ${String(match['text']).trim()}`,
  );
  return matches.length === 0
    ? `"${query}" was not found ${place}.`
    : [`"${query}" is found ${place}:`, ...matches].join('\n');
}

function listIn(result: unknown, key: string): readonly Readonly<Record<string, unknown>>[] {
  const list = isPlainObject(result) ? result[key] : undefined;
  return Array.isArray(list) ? list.filter(isPlainObject) : [];
}
