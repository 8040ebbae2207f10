import { CancelScope } from '../../base/cancel-scope.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { inFlightOn } from '../frame/in-flight.ts';
import { isPartOfLifecycle } from '../frame/lifecycle.ts';
import type { RunContext } from '../frame/run-context.ts';
import { invoke } from '../invoke/invoke.ts';

/**
 * Children without an outcome that no invocation waits for: dispatched ones, and spawned ones whose
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
 * Continues the detached children that the last process left open, from their recorded names and
 * inputs.
 * @param isAsked True when the caller asks for a run of its own. The run then starts even when this
 * process does not have the lifecycle of an earlier run; its step is left to other processes.
 */
export function continueDetached(run: RunContext, isAsked: boolean): void {
  const { detached } = inFlightOn(run.ledger);
  const { registry } = run.app;
  for (const { path, name, mode, input } of openDetached(run.ledger)) {
    if (detached.has(path)) continue;
    if (isAsked && isPartOfLifecycle(path) && !registry.has(name)) {
      run.detached.leavesOpen = true;
      continue;
    }
    const runnable = registry.get(name);
    run.detached.add(
      path,
      invoke(run, {
        path,
        runnable,
        mode,
        input,
        scope: new CancelScope(run.detached.scope),
        activity: run.detached.activity,
      }),
    );
  }
}
