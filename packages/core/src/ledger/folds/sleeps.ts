import type { InvocationInput } from '../event.ts';
import type { InvocationTree } from './invocation-fold.ts';
import { laneAt } from './lanes.ts';

/**
 * Milliseconds below which a process does not give its session back for a sleep: it would have to
 * claim the session again at once.
 */
export const shortestReleaseMs = 5_000;

/** Returns the recorded end of a sleep in epoch milliseconds. */
export function sleepsUntil(input: InvocationInput | undefined): number {
  return Number((input?.data as { readonly until?: unknown } | undefined)?.until ?? 0);
}

/**
 * End of the first open sleep in epoch milliseconds; `null` when nothing sleeps.
 * @param lane only sleeps of this lane count
 */
export function firstSleepEnd(tree: InvocationTree, lane?: string): number | null {
  let first: number | null = null;
  for (const { path, kind, end, input } of tree.byPath.values()) {
    if (kind !== 'sleep' || end !== undefined) continue;
    if (lane !== undefined && laneAt(tree, path) !== lane) continue;
    const until = sleepsUntil(input);
    if (first === null || until < first) first = until;
  }
  return first;
}
