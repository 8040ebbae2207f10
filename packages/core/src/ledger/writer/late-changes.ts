import type { EventDraft, StateChange } from '../event.ts';

/**
 * Makes the changes of a draft from the ledger at the time of the append. Without changes, nothing
 * is recorded.
 */
export type ComposeChanges = () => readonly StateChange[];

const composers = new WeakMap<readonly StateChange[], ComposeChanges>();

/**
 * Defers changes until their event is appended. Between the end of a body and the append, others
 * may write the same keys. A function is then applied to the present value.
 */
export function composedLate(
  changes: readonly StateChange[],
  compose: ComposeChanges,
): readonly StateChange[] {
  composers.set(changes, compose);
  return changes;
}

/** Returns the draft as it is appended now; `undefined` when it is not appended. */
export function composedDraft<Draft extends EventDraft>(draft: Draft): Draft | undefined {
  if (draft.type !== 'state_change') return draft;
  const compose = composers.get(draft.changes);
  if (compose === undefined) return draft;
  const changes = compose();
  return changes.length === 0 ? undefined : { ...draft, changes };
}
