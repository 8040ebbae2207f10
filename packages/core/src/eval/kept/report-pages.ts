import { InvalidCursorError } from '../../ledger/errors.ts';
import type { CaseReport, EvalReport } from '../report.ts';

/** A case of a report with one of its variants. */
export interface CaseOfVariant extends CaseReport {
  readonly variant: string;
}

export interface CaseFilter {
  /** Only this variant. @default all */
  readonly variant?: string;
  /**
   * `passed`: only cases all of whose trials passed; `failed`: only those of which one did not.
   */
  readonly outcome?: 'passed' | 'failed';
  /** Only cases whose id, tags, messages, answers or findings have this text, in either case. */
  readonly text?: string;
}

export interface PageOptions {
  /** Cases of a page at most. @default 100 */
  readonly limit?: number;
  /** Goes on where a page ended. */
  readonly cursor?: string;
}

const usualLimit = 100;
/** Characters of JSON after which a page ends: cases may be long. */
const longestPage = 1_000_000;

/** Returns the cases that a filter leaves, a case after the other with each variant. */
export function filteredCases(
  { variants }: EvalReport,
  { variant, outcome, text = '' }: CaseFilter,
): readonly CaseOfVariant[] {
  const wanted = text.toLowerCase();
  const all = variants
    .filter(({ name }) => variant === undefined || name === variant)
    .map(({ name, cases }) => cases.map((one) => ({ variant: name, ...one })));
  return interleaved(all).filter(
    (one) =>
      (outcome === undefined || hasPassed(one) === (outcome === 'passed')) &&
      (wanted === '' || textsOf(one).some((found) => found.toLowerCase().includes(wanted))),
  );
}

function interleaved<Item>(lists: readonly (readonly Item[])[]): readonly Item[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
}

function hasPassed({ trials }: CaseReport): boolean {
  return trials.length > 0 && trials.every(({ passed }) => passed);
}

function textsOf({ id, description = '', tags, trials }: CaseReport): readonly string[] {
  return [
    id,
    description,
    ...tags,
    ...trials.flatMap(({ turns, scores, error }) => [
      ...turns.flatMap(({ user, assistant = '' }) => [user, assistant]),
      ...scores.map(({ explanation }) => explanation),
      error?.message ?? '',
    ]),
  ];
}

/**
 * Returns a page of a list: as many as were asked for, or fewer where they are long.
 * @throws InvalidCursorError
 */
export function pageOf<Item>(
  items: readonly Item[],
  { limit = usualLimit, cursor }: PageOptions,
): { readonly items: readonly Item[]; readonly cursor?: string } {
  const from = cursor === undefined ? 0 : placeOf(cursor);
  let [to, length] = [from, 0];
  while (to < items.length && to - from < limit && length < longestPage) {
    length += JSON.stringify(items[to]).length;
    to++;
  }
  return {
    items: items.slice(from, to),
    ...(to < items.length ? { cursor: String(to) } : {}),
  };
}

function placeOf(cursor: string): number {
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw new InvalidCursorError({ cursor, reason: 'it is not one that a page of cases gave' });
}
