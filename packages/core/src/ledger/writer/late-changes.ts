import type { EventDraft, StateChange } from '../event.ts';

/**
 * Makes the changes of a draft of what the ledger has by then; none: there is nothing to record.
 */
export type ComposeChanges = () => readonly StateChange[];

const composers = new WeakMap<readonly StateChange[], ComposeChanges>();

/**
 * Has changes made anew when their event is appended: between the moment in which a body gives its
 * writes out and their append, others may write the same keys, and a function is applied to the
 * value that is there.
 */
export function composedLate(
  changes: readonly StateChange[],
  compose: ComposeChanges,
): readonly StateChange[] {
  composers.set(changes, compose);
  return changes;
}

/** The draft as it is to be appended now; `undefined`: not at all. */
export function composedDraft<Draft extends EventDraft>(draft: Draft): Draft | undefined {
  if (draft.type !== 'state_change') return draft;
  const compose = composers.get(draft.changes);
  if (compose === undefined) return draft;
  const changes = compose();
  return changes.length === 0 ? undefined : { ...draft, changes };
}
