import type { JsonObject } from '../../base/json.ts';
import type { Evidence } from './evidence.ts';
import type { Condition } from './request.ts';
import {
  findAmountColumn,
  findDateColumn,
  findNamedColumn,
  findStateColumns,
  findTextColumns,
  groupKeys,
  nameWords,
  type TableSample,
  valuesOf,
} from './table-columns.ts';

/** A condition as `queryCsv` takes it, or the reason why there is none. */
export type ResolvedCondition = { readonly where: JsonObject } | { readonly problem: string };

export interface TableInHand {
  readonly path: string;
  readonly sample: TableSample;
  readonly words: readonly string[];
}

/**
 * Finds the column and the value of a condition; `undefined` while a look at the table's values is
 * still to come.
 */
export function resolveCondition(
  condition: Condition,
  table: TableInHand,
  evidence: Evidence,
): ResolvedCondition | undefined {
  switch (condition.kind) {
    case 'compare':
      return resolveComparison(condition, table);
    case 'state':
      return resolveState(condition, table, evidence);
    case 'value':
      return resolveValue(condition.value, table, evidence);
    case 'unclear':
      return { problem: `I do not understand the condition "${condition.text}".` };
  }
}

function resolveComparison(
  condition: Condition & { kind: 'compare' },
  table: TableInHand,
): ResolvedCondition {
  const { column: wording, op, value } = condition;
  const named =
    wording === undefined
      ? findAmountColumn(table.sample, table.words)
      : findNamedColumn(table.sample, wording);
  const column =
    named ??
    (value !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(value)
      ? findDateColumn(table.sample)
      : undefined);
  if (column === undefined)
    return {
      problem:
        `${table.path} has no column ` +
        `${wording === undefined ? 'of amounts' : `"${wording}"`}; ${columnList(table)}.`,
    };
  if (value === undefined) return { where: { column, op } };
  const spelling = valuesOf(table.sample, column).find(
    (known) => known.toLowerCase() === value.toLowerCase(),
  );
  return { where: { column, op, value: spelling ?? value } };
}

/**
 * Words that mean the same state as another one; the other one is tried when no value is called so.
 */
const sameState: { readonly [word: string]: readonly string[] } = {
  unpaid: ['outstanding', 'unsettled', 'open', 'due'],
  outstanding: ['unpaid', 'open', 'due'],
  unsettled: ['unpaid', 'open'],
  settled: ['paid'],
  paid: ['settled'],
  canceled: ['cancelled'],
  cancelled: ['canceled'],
  completed: ['done', 'complete'],
  late: ['overdue'],
};

function resolveState(
  condition: Condition & { kind: 'state' },
  table: TableInHand,
  evidence: Evidence,
): ResolvedCondition | undefined {
  const { word, negated } = condition;
  const columns = findStateColumns(table.sample, word);
  const seen: string[] = [];
  let waiting = false;
  for (const column of columns) {
    const values = distinctValues(column, table, evidence);
    if (values === undefined) {
      waiting = true;
      continue;
    }
    const where = negated
      ? negatedState(word, column, values)
      : stateCondition(word, column, values);
    if (where !== undefined) return waiting ? undefined : { where };
    seen.push(`the values of ${column} are ${values.join(', ')}`);
  }
  if (waiting) return undefined;
  const known = seen.length === 0 ? columnList(table) : seen.join('; ');
  return { problem: `Nothing in ${table.path} says which rows are "${word}": ${known}.` };
}

const yes = new Set(['yes', 'true', '1', 'y', 'x']);
const no = new Set(['no', 'false', '0', 'n']);

function stateCondition(
  word: string,
  column: string,
  values: readonly string[],
): JsonObject | undefined {
  for (const name of [word, ...(sameState[word] ?? [])]) {
    const value = values.find((known) => stateWord(known) === name);
    if (value !== undefined) return { column, op: '=', value };
  }
  const root = word.replace(/^un/, '');
  const negated = root !== word;
  // "unpaid" with the values "paid", "pending", "overdue": everything but "paid".
  const opposite = values.find((known) => stateWord(known) === root);
  if (negated && opposite !== undefined) return { column, op: '!=', value: opposite };
  if (!nameWords(column).includes(root)) return undefined;
  const flag = values.find((known) => (negated ? no : yes).has(known.toLowerCase()));
  if (
    flag !== undefined &&
    values.every((known) => yes.has(known.toLowerCase()) || no.has(known.toLowerCase()))
  )
    return { column, op: '=', value: flag };
  // A column such as `paid_at` tells by being filled.
  const tellsByDate = nameWords(column).some((part) =>
    ['at', 'on', 'date', 'day', 'time'].includes(part),
  );
  return tellsByDate ? { column, op: negated ? 'empty' : 'not_empty' } : undefined;
}

/** "not paid" is everything but "paid", where that is a value, else what "unpaid" is. */
function negatedState(
  word: string,
  column: string,
  values: readonly string[],
): JsonObject | undefined {
  const value = values.find((known) => stateWord(known) === word);
  if (value !== undefined) return { column, op: '!=', value };
  return stateCondition(`un${word}`, column, values);
}

function stateWord(value: string): string {
  return value.toLowerCase().replace(/^not[\s_-]+/, 'un');
}

function resolveValue(
  value: string,
  table: TableInHand,
  evidence: Evidence,
): ResolvedCondition | undefined {
  const columns = findTextColumns(table.sample);
  for (const column of columns) {
    const spelling = valuesOf(table.sample, column).find(
      (known) => known.toLowerCase() === value.toLowerCase(),
    );
    if (spelling !== undefined) return { where: { column, op: '=', value: spelling } };
  }
  const all = columns.map((column) => ({
    column,
    values: distinctValues(column, table, evidence),
  }));
  for (const { column, values } of all) {
    const spelling = values?.find((known) => known.toLowerCase() === value.toLowerCase());
    if (spelling !== undefined) return { where: { column, op: '=', value: spelling } };
  }
  if (all.some(({ values }) => values === undefined)) return undefined;
  return { problem: `No column of ${table.path} has the value "${value}"; ${columnList(table)}.` };
}

/**
 * All values of a column: from the sample when it is the whole table, else by grouping. `undefined`
 * while that is still to come.
 */
function distinctValues(
  column: string,
  table: TableInHand,
  evidence: Evidence,
): readonly string[] | undefined {
  if (table.sample.complete) return valuesOf(table.sample, column);
  const outcome = evidence.lookUp('queryCsv', {
    path: table.path,
    groupBy: column,
    aggregate: [{ fn: 'count' }],
  });
  if (outcome === undefined) return undefined;
  const values = outcome.ok ? groupKeys(outcome.value) : [];
  return values.length > 0 ? values : valuesOf(table.sample, column);
}

export function columnList(table: Pick<TableInHand, 'sample'>): string {
  return `its columns are ${table.sample.columns.join(', ')}`;
}
