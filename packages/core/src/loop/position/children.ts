import type { EventOf } from '../../ledger/event.ts';
import { slotOf } from '../../ledger/path.ts';

/** Children that calls of the agent have spawned. */
export interface ChildrenState {
  /** Paths of the spawned children that the agent waits for. */
  readonly open: Set<string>;
}

export function startChildren(): ChildrenState {
  return { open: new Set() };
}

/** Folds the start of a child. */
export function beginChild(
  { open }: ChildrenState,
  { mode, invocationId }: EventOf<'invocation_start'>,
): void {
  if (mode === 'spawn') open.add(invocationId);
}

/** Folds the end of a child. @returns true when the agent waited for it */
export function endChild(
  { open }: ChildrenState,
  { next, invocationId }: EventOf<'invocation_end'>,
): boolean {
  // A child that ends in a handoff continues in its slot.
  return next === undefined && open.delete(slotOf(invocationId));
}
