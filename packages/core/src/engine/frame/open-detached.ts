import { hasOutcome, type InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { laneAt } from '../../ledger/folds/lanes.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Open detached children of the runs of one lane. */
export function openDetachedIn(ledger: Ledger, lane: string): InvocationRecord[] {
  return openDetached(ledger).filter(({ path }) => laneAt(ledger.invocations, path) === lane);
}

/**
 * Children without an outcome that no invocation waits for: dispatched ones, and spawned ones whose
 * caller has ended.
 * @param ending path of an invocation that is about to end
 */
export function openDetached({ invocations }: Ledger, ending?: string): InvocationRecord[] {
  const { byPath } = invocations;
  const hasEnded = (path = ''): boolean => path === ending || byPath.get(path)?.end !== undefined;
  return [...byPath.values()].filter(
    ({ path, mode, parent }) =>
      (mode === 'dispatch' || (mode === 'spawn' && hasEnded(parent))) &&
      !hasOutcome(invocations, path),
  );
}
