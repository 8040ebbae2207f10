import { defined } from '../../base/defined.ts';
import { parseConditions, parseStates } from './parse-conditions.ts';
import { parsePercentOf } from './parse-follow-up.ts';
import type { Condition, Request, Statistic, TableRequest } from './request.ts';
import { findTablePath } from './table-path.ts';

/** The tables that the rest of the message names. */
export interface TableContext {
  /** The path of the first table in the message. */
  readonly onlyTable: string | undefined;
  /** The last request about a table in the clauses before. */
  readonly earlier: TableRequest | undefined;
}

const statistics: readonly (readonly [RegExp, Statistic])[] = [
  [/\b(?:average|mean|avg)\b/i, 'avg'],
  [/\b(?:largest|biggest|highest|maximum|max|most expensive|greatest)\b/i, 'max'],
  [/\b(?:smallest|lowest|minimum|min|cheapest|least)\b(?!\s+\d)/i, 'min'],
  [/\b(?:how many|count|number of)\b/i, 'count'],
  [/\b(?:add(?:\s+\w+){0,2}\s+up|add up|sum|total|altogether|how much|add together)\b/i, 'sum'],
];

/** Questions about tables that no rule answers; the remaining words alone would mislead. */
const beyondTables = wordOf([
  ...['difference', 'compared?', 'versus', 'vs', 'ratio', 'share', 'median', 'sort(?:ed)?'],
  ...['top', 'trend', 'chart', 'plot', 'month(?:ly)?', 'weekly', 'yearly'],
]);
const tableNouns = wordOf([
  ...['rows?', 'records?', 'entries', 'invoices?', 'orders?', 'customers?', 'payments?', 'sales'],
  ...['expenses?', 'transactions?', 'products?', 'items?', 'amounts?'],
]);

/** A pattern for one of these whole words, in any case. */
function wordOf(patterns: readonly string[]): RegExp {
  return new RegExp(`\\b(?:${patterns.join('|')})\\b`, 'i');
}

/**
 * Returns the requests about a table in a clause. A clause without a file, such as "what is the
 * average", is about the file and the rows that the message names elsewhere.
 */
export function parseTable(
  clause: string,
  { onlyTable, earlier }: TableContext,
): readonly Request[] {
  const own = findTablePath(clause);
  const rest = (own === undefined ? clause : clause.replace(own, ' '))
    .replaceAll(/[“”`]/g, '"')
    .replaceAll(/"\s*"/g, ' ');
  const found = findStatistics(rest);
  const borrowed =
    own === undefined && found.length > 0 && !/\d/.test(clause) ? onlyTable : undefined;
  const path = own ?? borrowed;
  if (path === undefined && (found.length === 0 || !tableNouns.test(rest))) return [];
  const states = parseStates(rest);
  const others = parseConditions(rest);
  const grouping = /\b(?:by|per|for\s+each|for\s+every)\s+(?:the\s+)?([a-z][a-z_]*)\b/.exec(
    rest,
  )?.[1];
  if (beyondTables.test(rest) || (found.length === 0 && states.length + others.length === 0))
    return [];
  const inherited =
    borrowed !== undefined && states.length + others.length === 0
      ? (earlier?.conditions ?? [])
      : [];
  const alternatives: readonly (readonly Condition[])[] =
    states.length === 0 ? [[...inherited, ...others]] : states.map((state) => [state, ...others]);
  const words = rest.toLowerCase().match(/[a-z][a-z_]+/g) ?? [];
  const more = {
    words,
    ...defined({ path, groupBy: grouping }),
  };
  const requests = (found.length === 0 ? (['rows'] as const) : found).flatMap(
    (statistic): Request[] => [
      ...alternatives.map(
        (conditions): TableRequest => ({ kind: 'table', statistic, conditions, ...more }),
      ),
      ...(alternatives.length > 1 && (statistic === 'sum' || statistic === 'count')
        ? [{ kind: 'combine' as const, count: alternatives.length }]
        : []),
    ],
  );
  const calculation = parsePercentOf(rest);
  const conditions = alternatives.flat();
  const unread = calculation === undefined ? findUnread(rest, clause, own, conditions) : undefined;
  return [
    ...requests,
    ...(calculation ?? []),
    ...(unread === undefined ? [] : [{ kind: 'unclear' as const, text: unread }]),
  ];
}

/**
 * Returns a part of a clause about a table that no rule has read: a number that no condition has,
 * or the words after "and" behind the file. Without it, the answer would fit another question.
 */
function findUnread(
  rest: string,
  clause: string,
  path: string | undefined,
  conditions: readonly Condition[],
): string | undefined {
  const read = JSON.stringify(conditions)
    .replaceAll(/[^\d.]+/g, ' ')
    .split(' ');
  for (const [found, digits = ''] of rest.matchAll(
    /(?:[A-Za-z]+\s+)?[$€£]?(?<![\w.,-])(\d[\d,.-]*)(?:\s*%|\s+[A-Za-z]+)?/g,
  )) {
    const parts = digits
      .replaceAll(',', '')
      .replace(/[.-]+$/, '')
      .split('-');
    if (!parts.every((part) => read.includes(part))) return found.trim();
  }
  const behind =
    path === undefined
      ? undefined
      : /^["”`]?\s*,?\s*(?:and|but|then)\s+(.+)$/i.exec(
          clause.slice(clause.indexOf(path) + path.length),
        )?.[1];
  if (
    behind === undefined ||
    findStatistics(behind).length + parseStates(behind).length + parseConditions(behind).length > 0
  )
    return undefined;
  return behind;
}

/**
 * Returns the statistics that a text asks for. "Total" and "how much" ask for a sum only when there
 * is no other statistic, as in "the total number" or "the average total".
 */
function findStatistics(text: string): readonly Statistic[] {
  const found = statistics
    .filter(([pattern]) => pattern.test(text))
    .map(([, statistic]) => statistic);
  const asksToAdd = /\b(?:add|sum|altogether)\b/i.test(text);
  return found.length > 1 && !asksToAdd ? found.filter((statistic) => statistic !== 'sum') : found;
}
