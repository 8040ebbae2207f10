import type { ErrorRecord } from '../../base/error.ts';
import {
  type InvocationRecord,
  type InvocationTree,
  lastRecord,
} from '../../ledger/folds/invocation-fold.ts';
import { isWithin, lastPartOf, slotOf } from '../../ledger/path.ts';

/** An attempt of a subtask; one that failed before it was started has no record. */
export interface Attempt {
  readonly record?: InvocationRecord;
  readonly error?: ErrorRecord;
}

/** Returns the attempts of the subtasks of a plan by key, in the order in which they began. */
export function attemptsOf(
  tree: InvocationTree,
  { children, events }: InvocationRecord,
): ReadonlyMap<string, readonly Attempt[]> {
  const found = new Map<string, (Attempt & { readonly seq: number })[]>();
  const add = (key: string, attempt: Attempt & { readonly seq: number }): void => {
    found.set(key, [...(found.get(key) ?? []), attempt]);
  };
  for (const child of children) {
    const first = tree.byPath.get(child);
    // A handoff goes on in the place of the first of its slot.
    if (first === undefined || slotOf(child) !== child) continue;
    const key = lastPartOf(child).replace(/#\d+$/, '');
    add(key, { record: lastRecord(tree, child) ?? first, seq: first.start.seq });
  }
  for (const event of events)
    if (event.type === 'plan_update') add(event.key, { error: event.error, seq: event.seq });
  for (const attempts of found.values()) attempts.sort((a, b) => a.seq - b.seq);
  return found;
}

/** True when something at or below a path waits for somebody outside. */
export function hasWaitBelow(tree: InvocationTree, path: string): boolean {
  for (const record of tree.byPath.values())
    if (record.status === 'yielded' && isWithin(record.path, path)) return true;
  return false;
}
