import { CancelScope } from '../../base/cancel-scope.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { isPartOfLifecycle } from '../frame/lifecycle.ts';
import { occupancyOf } from '../frame/occupancy.ts';
import type { RunContext } from '../frame/run-context.ts';
import { invoke } from '../invoke/invoke.ts';

/**
 * Children that nobody waits for and that have no outcome: dispatched ones, and spawned ones whose
 * caller has ended.
 */
export function openDetached({ invocations }: Ledger): InvocationRecord[] {
  const { byPath } = invocations;
  return [...byPath.values()].filter(
    ({ path, mode, parent }) =>
      (mode === 'dispatch' || (mode === 'spawn' && byPath.get(parent ?? '')?.end !== undefined)) &&
      !hasOutcome(invocations, path),
  );
}

/**
 * Children that were detached and that the last process left open go on from their recorded names
 * and inputs. Who wants a run of its own has it also where the lifecycle is not known that has not
 * ended for the run before: that is left for others.
 */
export function continueDetached(run: RunContext, isAsked: boolean): void {
  const { detached } = occupancyOf(run.ledger);
  const { registry } = run.app;
  for (const { path, name, mode, input } of openDetached(run.ledger)) {
    if (detached.has(path)) continue;
    if (isAsked && isPartOfLifecycle(path) && !registry.has(name)) {
      run.leavesDetached = true;
      continue;
    }
    const runnable = registry.get(name);
    run.detach(
      path,
      invoke(run, {
        path,
        runnable,
        mode,
        input,
        scope: new CancelScope(run.detachedScope),
        activity: run.detachedActivity,
      }),
    );
  }
}
