import { CancelScope } from '../../base/cancel-scope.ts';
import { inFlightOn } from '../frame/in-flight.ts';
import { openDetachedIn } from '../frame/open-detached.ts';
import type { RunContext } from '../frame/run-context.ts';
import { invoke } from '../invoke/invoke.ts';

/**
 * Continues the detached children that nobody works on, from their recorded names and inputs.
 * @param mayLeaveOpen returns true for a child that other processes may continue when this one does
 * not know its runnable
 */
export function continueDetached(run: RunContext, mayLeaveOpen: (path: string) => boolean): void {
  const { detached } = inFlightOn(run.ledger);
  const { registry } = run.app;
  for (const { path, name, mode, input } of openDetachedIn(run.ledger, run.lane)) {
    if (detached.has(path)) continue;
    if (mayLeaveOpen(path) && !registry.has(name)) {
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
