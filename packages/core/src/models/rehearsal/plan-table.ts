import { defined } from '../../base/defined.ts';
import { isPlainObject, type JsonObject } from '../../base/json.ts';
import {
  describeAggregate,
  describeCount,
  describeGroups,
  describeRemarks,
  describeRows,
  describeStatistic,
  describeWhere,
  formatNumber,
} from './answer.ts';
import type { Evidence } from './evidence.ts';
import type { Finding } from './finding.ts';
import type { TableRequest } from './request.ts';
import { columnList, resolveCondition, type TableInHand } from './resolve-condition.ts';
import {
  findAmountColumn,
  findMentionedValues,
  findNamedColumn,
  nameWords,
  readSample,
} from './table-columns.ts';

const sampleSize = 20;

/**
 * Answers a question about a table: looks at its first rows, finds the columns and values that the
 * words mean, then lets `queryCsv` select and calculate. `undefined` while results are still to
 * come.
 */
export function planTable(request: TableRequest, evidence: Evidence): Finding | undefined {
  const path = request.path === undefined ? findTable(request, evidence) : { path: request.path };
  if (path === undefined || 'text' in path) return path;
  const outcome = evidence.lookUp('queryCsv', { path: path.path, limit: sampleSize });
  if (outcome === undefined) return undefined;
  if (!outcome.ok) return { text: `I could not query ${path.path}: ${outcome.problem}` };
  const sample = readSample(outcome.value);
  if (sample === undefined)
    return { text: `The result of queryCsv for ${path.path} has a form that I do not know.` };
  const table = { path: path.path, sample, words: request.words };
  const where = resolveConditions(request, table, evidence);
  if (where === undefined || 'text' in where) return where;
  if (request.groupBy !== undefined)
    return evaluateGroups(request, request.groupBy, table, where.where, evidence);
  return request.statistic === 'rows' || request.statistic === 'count'
    ? evaluateRows(request.statistic, table, where.where, evidence)
    : evaluateStatistic(request, table, where.where, evidence);
}

/**
 * The table meant when no file is named: the only CSV file, or the only one whose name is in the
 * request.
 */
function findTable(
  request: TableRequest,
  evidence: Evidence,
): { readonly path: string } | Finding | undefined {
  const outcome = evidence.lookUp('listFiles', { pattern: '**/*.csv' });
  if (outcome === undefined) return undefined;
  if (!outcome.ok) return { text: `I could not look for a CSV file: ${outcome.problem}` };
  const files =
    isPlainObject(outcome.value) && Array.isArray(outcome.value['files'])
      ? (outcome.value['files'] as unknown[])
      : [];
  const paths = files.flatMap((file) =>
    isPlainObject(file) && typeof file['path'] === 'string' ? [file['path']] : [],
  );
  const named = paths.filter((path) =>
    nameWords(path.replace(/^.*\//, '').replace(/\.csv$/i, '')).some((word) =>
      request.words.includes(word),
    ),
  );
  const [only, ...others] = named.length > 0 ? named : paths;
  if (only !== undefined && others.length === 0) return { path: only };
  return {
    text:
      only === undefined
        ? 'There is no CSV file here. Name the file to use.'
        : `Which file do you mean: ${[only, ...others].join(', ')}?`,
  };
}

function resolveConditions(
  request: TableRequest,
  table: TableInHand,
  evidence: Evidence,
): { readonly where: readonly JsonObject[] } | Finding | undefined {
  const resolved = request.conditions.map((condition) =>
    resolveCondition(condition, table, evidence),
  );
  const where: JsonObject[] = [];
  for (const condition of resolved) {
    if (condition === undefined) return undefined;
    if ('problem' in condition) return { text: condition.problem };
    where.push(condition.where);
  }
  const constrained = new Set(where.map(({ column }) => String(column)));
  for (const { column, value } of findMentionedValues(table.sample, request.words)) {
    if (!constrained.has(column)) where.push({ column, op: '=', value });
  }
  return { where };
}

type Where = readonly JsonObject[];

function query(table: TableInHand, where: Where, more: JsonObject): JsonObject {
  return { path: table.path, ...(where.length === 0 ? {} : { where }), ...more };
}

function evaluateRows(
  statistic: 'rows' | 'count',
  table: TableInHand,
  where: Where,
  evidence: Evidence,
): Finding | undefined {
  const outcome = evidence.lookUp(
    'queryCsv',
    query(table, where, { limit: statistic === 'rows' ? sampleSize : 0 }),
  );
  if (outcome === undefined) return undefined;
  if (!outcome.ok) return { text: `I could not query ${table.path}: ${outcome.problem}` };
  const matched = isPlainObject(outcome.value) ? outcome.value['matched'] : undefined;
  if (typeof matched !== 'number')
    return { text: `queryCsv did not say how many rows of ${table.path} match.` };
  const remarks = describeRemarks(outcome.value);
  if (statistic === 'count')
    return { text: describeCount(table.path, where, matched) + remarks, number: matched };
  return { text: describeRows(table.path, where, matched, readSample(outcome.value)) + remarks };
}

function evaluateStatistic(
  request: TableRequest,
  table: TableInHand,
  where: Where,
  evidence: Evidence,
): Finding | undefined {
  const { statistic } = request;
  const column = findAmountColumn(table.sample, request.words);
  if (column === undefined) return { text: noAmounts(table) };
  const outcome = evidence.lookUp(
    'queryCsv',
    query(table, where, { aggregate: [{ fn: statistic, column }], limit: 0 }),
  );
  if (outcome === undefined) return undefined;
  if (!outcome.ok) return { text: `I could not query ${table.path}: ${outcome.problem}` };
  const { value, matched } = readAggregate(outcome.value, `${statistic}(${column})`);
  if (matched === 0)
    return {
      text: `No row of ${table.path} matches${describeWhere(where)}.`,
      ...(statistic === 'sum' ? { number: 0 } : {}),
    };
  if (value === undefined)
    return { text: `queryCsv gave no ${statistic} of ${column} for ${table.path}.` };
  const text =
    describeAggregate({ statistic, column, path: table.path, where, value, matched }) +
    describeRemarks(outcome.value);
  const number = Number(formatNumber(value));
  const asksWhich =
    (statistic === 'min' || statistic === 'max') &&
    request.words.some((word) => word === 'which' || word === 'who' || word === 'whose');
  if (!asksWhich) return { text, number };
  const rows = evaluateRows(
    'rows',
    table,
    [...where, { column, op: '=', value: formatNumber(value) }],
    evidence,
  );
  return rows === undefined ? undefined : { text: `${text}\n${rows.text}`, number };
}

function evaluateGroups(
  request: TableRequest,
  wording: string,
  table: TableInHand,
  where: Where,
  evidence: Evidence,
): Finding | undefined {
  const groupBy = findNamedColumn(table.sample, wording);
  if (groupBy === undefined)
    return { text: `${table.path} has no column "${wording}" to group by; ${columnList(table)}.` };
  const fn = request.statistic === 'rows' ? 'count' : request.statistic;
  const column = fn === 'count' ? undefined : findAmountColumn(table.sample, request.words);
  if (fn !== 'count' && column === undefined) return { text: noAmounts(table) };
  const aggregate = { fn, ...defined({ column }) };
  const outcome = evidence.lookUp(
    'queryCsv',
    query(table, where, { groupBy, aggregate: [aggregate], limit: 0 }),
  );
  if (outcome === undefined) return undefined;
  if (!outcome.ok) return { text: `I could not query ${table.path}: ${outcome.problem}` };
  const title =
    `The ${describeStatistic(fn, column)} by ${groupBy} in ` +
    `${table.path}${describeWhere(where)}:`;
  return {
    text:
      describeGroups(title, column === undefined ? 'count' : `${fn}(${column})`, outcome.value) +
      describeRemarks(outcome.value),
  };
}

function noAmounts(table: TableInHand): string {
  return (
    `${table.path} has no column that I can take for the amounts; ${columnList(table)}. Name ` +
    'the column to use.'
  );
}

function readAggregate(
  result: unknown,
  name: string,
): { readonly value: number | undefined; readonly matched: number | undefined } {
  if (!isPlainObject(result)) return { value: undefined, matched: undefined };
  const { aggregates, matched } = result;
  const value = isPlainObject(aggregates) ? aggregates[name] : undefined;
  return {
    value: typeof value === 'number' ? value : undefined,
    matched: typeof matched === 'number' ? matched : undefined,
  };
}
