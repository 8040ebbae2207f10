import { CancelScope } from '../../base/cancel-scope.ts';
import { withdrawIfStale } from '../../effects/request/withdraw-stale.ts';
import { parentOf } from '../../ledger/path.ts';
import type { Position } from '../../loop/position.ts';
import { inFlightOn } from '../frame/in-flight.ts';
import { invoke } from '../invoke/invoke.ts';
import type { AgentParts } from './agent-parts.ts';
import type { WorkUnderWay } from './work-under-way.ts';

/**
 * Continues an agent after another process stopped: resumes spawned children, and withdraws
 * requests that no longer fit.
 */
export function continueAfterStop(parts: AgentParts, work: WorkUnderWay): void {
  const { run, scope, record } = parts.frame;
  continueSpawned(parts, work, scope.aborted ? 'all' : 'ended_calls');
  const { calls, limits } = parts.position;
  const { lastRequest } = limits;
  const asked = [...calls.byId.values()].flatMap(({ pending }) =>
    pending === undefined ? [] : [pending],
  );
  if (lastRequest !== undefined && lastRequest.answer === undefined)
    asked.push(lastRequest.request);
  for (const request of asked)
    withdrawIfStale(run.ledger, record.path, request, parts.tools.find(request.name));
}

/**
 * Continues spawned children that were open when the last process stopped, from their recorded
 * names and inputs.
 * @param which `ended_calls` leaves out the children of calls that run again: such a call requests
 * its child itself
 */
export function continueSpawned(
  { frame, position, work: scope }: AgentParts,
  work: WorkUnderWay,
  which: 'all' | 'ended_calls',
): void {
  const { run, activity } = frame;
  const { underWay } = inFlightOn(run.ledger);
  for (const path of position.children.open) {
    const child = run.ledger.invocations.byPath.get(path);
    if (child === undefined || underWay.has(path)) continue;
    if (which === 'ended_calls' && isCallOpen(position, path)) continue;
    const runnable = run.app.registry.get(child.name);
    work.start(
      `spawn:${path}`,
      invoke(run, {
        path,
        runnable,
        mode: child.mode,
        input: child.input,
        scope: new CancelScope(scope),
        activity,
      }).then(() => undefined),
    );
  }
}

/** True when the call that spawned a child will run again. */
function isCallOpen({ calls }: Position, child: string): boolean {
  const call = calls.byId.get(parentOf(child));
  return call !== undefined && call.settled === undefined;
}
