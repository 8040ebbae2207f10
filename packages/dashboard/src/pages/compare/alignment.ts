import type { Columns } from '../../ledger/columns.ts';

/** Row of two ledgers beside each other: events that stand for the same step, or one alone. */
export interface AlignedRow {
  readonly left: number | undefined;
  readonly right: number | undefined;
}

/** Events of each side that are aligned by what they are; beyond them they stand side by side. */
const mostAligned = 1_500;

/**
 * Counts the events that both ledgers share from their beginning on. The path of an invocation has
 * the random id of its run: an event of the same time, type and path is the same event.
 */
export function sharedEvents(left: Columns, right: Columns): number {
  const most = Math.min(left.count, right.count);
  for (let seq = 1; seq <= most; seq++) {
    const one = left.eventAt(seq);
    const other = right.eventAt(seq);
    if (
      one?.at !== other?.at ||
      one?.type !== other?.type ||
      one?.invocation !== other?.invocation ||
      one?.name !== other?.name
    )
      return seq - 1;
  }
  return most;
}

/** Aligns what comes behind the shared events: by type and name, in their order. */
export function align(left: Columns, right: Columns, shared: number): readonly AlignedRow[] {
  const lefts = namesAfter(left, shared);
  const rights = namesAfter(right, shared);
  const lengths = commonLengths(lefts, rights);
  const rows: AlignedRow[] = [];
  let i = 0;
  let j = 0;
  while (i < lefts.length && j < rights.length) {
    if (lefts[i] === rights[j]) rows.push({ left: shared + ++i, right: shared + ++j });
    else if ((lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))
      rows.push({ left: shared + ++i, right: undefined });
    else rows.push({ left: undefined, right: shared + ++j });
  }
  for (; i < lefts.length; i++) rows.push({ left: shared + i + 1, right: undefined });
  for (; j < rights.length; j++) rows.push({ left: undefined, right: shared + j + 1 });
  const [restLeft, restRight] = [shared + lefts.length, shared + rights.length];
  const rest = Math.max(left.count - restLeft, right.count - restRight);
  for (let next = 1; next <= rest; next++)
    rows.push({
      left: restLeft + next <= left.count ? restLeft + next : undefined,
      right: restRight + next <= right.count ? restRight + next : undefined,
    });
  return rows;
}

function namesAfter(columns: Columns, shared: number): readonly string[] {
  const names: string[] = [];
  const last = Math.min(columns.count, shared + mostAligned);
  for (let seq = shared + 1; seq <= last; seq++) {
    const event = columns.eventAt(seq);
    names.push(`${event?.type} ${event?.agent ?? ''} ${event?.name ?? ''}`);
  }
  return names;
}

/** Lengths of the longest common subsequences of all ends of both lists. */
function commonLengths(
  lefts: readonly string[],
  rights: readonly string[],
): readonly Uint16Array[] {
  const lengths = Array.from(
    { length: lefts.length + 1 },
    () => new Uint16Array(rights.length + 1),
  );
  for (let i = lefts.length - 1; i >= 0; i--)
    for (let j = rights.length - 1; j >= 0; j--) {
      const row = lengths[i] as Uint16Array;
      const below = lengths[i + 1] as Uint16Array;
      row[j] =
        lefts[i] === rights[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  return lengths;
}

/** Text in three parts: what both begin with, what differs, and what both end with. */
export interface WordDifference {
  readonly before: string;
  readonly differs: string;
  readonly after: string;
}

/** Finds the part of a text that another one does not have, by whole words. */
export function differing(text: string, other: string): WordDifference {
  const words = text.split(/(?<=\s)/);
  const others = other.split(/(?<=\s)/);
  let first = 0;
  while (first < words.length && words[first] === others[first]) first++;
  let last = 0;
  const most = Math.min(words.length, others.length) - first;
  while (last < most && words[words.length - 1 - last] === others[others.length - 1 - last]) last++;
  const end = words.length - last;
  return {
    before: words.slice(0, first).join(''),
    differs: words.slice(first, end).join(''),
    after: words.slice(end).join(''),
  };
}
