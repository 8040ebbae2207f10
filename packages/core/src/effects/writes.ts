import type { EventDraft } from '../ledger/event.ts';
import type { BatchExtras } from '../ledger/ledger-writer.ts';

/** Events and batch extras that are appended together with something else. */
export interface Writes {
  readonly drafts: readonly EventDraft[];
  readonly extras: BatchExtras | undefined;
}

export const noWrites: Writes = Object.freeze({ drafts: Object.freeze([]), extras: undefined });

/** Joins these writes into one, in their order. */
export function joinedWrites(writes: readonly (Writes | undefined)[]): Writes {
  let all: Writes = noWrites;
  for (const one of writes) {
    if (one === undefined || (one.drafts.length === 0 && one.extras === undefined)) continue;
    all =
      all === noWrites
        ? one
        : { drafts: [...all.drafts, ...one.drafts], extras: joinedExtras(all.extras, one.extras) };
  }
  return all;
}

/** Joins the extras of two batches: lists are concatenated. */
function joinedExtras(
  first: BatchExtras | undefined,
  second: BatchExtras | undefined,
): BatchExtras | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const both: Record<string, unknown> = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const before = both[key];
    both[key] =
      Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : (value ?? before);
  }
  return both;
}
