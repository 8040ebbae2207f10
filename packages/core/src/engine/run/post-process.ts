import { CancelScope } from '../../base/cancel-scope.ts';
import type { ErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type { EventOf, StopReason } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { childPath, isRootOf } from '../../ledger/path.ts';
import { inFlightOn } from '../frame/in-flight.ts';
import type { BodyEnd } from '../frame/invocation.ts';
import type { Lifecycle } from '../frame/lifecycle.ts';
import type { BodyFrame, RunContext } from '../frame/run-context.ts';
import { invoke } from '../invoke/invoke.ts';

/** Milliseconds that the work after a run may take: the default time of a run. */
const timeoutMs = 600_000;

/** End of a run, for `postProcess`. */
export interface RunEnd {
  readonly status: 'completed' | 'error';
  readonly output: JsonValue | undefined;
  /** Error of a run that failed. */
  readonly error: ErrorRecord | undefined;
  readonly stopReason: StopReason | undefined;
}

/**
 * Adds the start of `postProcess` to the end of a run that completed or failed, in one append: no
 * crash can part them.
 */
export function withPostProcess(
  { postProcess }: Lifecycle,
  { run, scope }: BodyFrame,
  end: BodyEnd,
): BodyEnd {
  if (postProcess === undefined || !isFollowed(end, scope)) return end;
  const { ledger, runId } = run;
  const { name } = postProcess;
  const made = recordsOf(ledger, runId, name);
  const last = made.at(-1);
  if (last !== undefined && !isReopenedSince(ledger, runId, last)) return end;
  const now = run.app.clock.now();
  return {
    ...end,
    followUp: {
      start: {
        type: 'invocation_start',
        by: 'runtime',
        invocationId: pathOf(runId, name, made.length + 1),
        kind: 'step',
        name,
        mode: 'dispatch',
        deadline: now + timeoutMs,
      },
      wakeAt: now,
    },
  };
}

/** Begins `postProcess` when the end of the run is in the ledger. */
export function beginPostProcess(run: RunContext): void {
  const { postProcess } = run.app.lifecycle ?? {};
  if (postProcess === undefined) return;
  const { invocations } = run.ledger;
  const path = recordsOf(run.ledger, run.runId, postProcess.name).at(-1)?.path;
  if (path === undefined || hasOutcome(invocations, path)) return;
  if (inFlightOn(run.ledger).detached.has(path)) return;
  const slot = { path, runnable: postProcess, mode: 'dispatch' as const, begun: true };
  run.detached.add(
    path,
    invoke(run, {
      ...slot,
      scope: new CancelScope(run.detached.scope),
      activity: run.detached.activity,
    }),
  );
}

/** Returns the end of the run that an execution of `postProcess` follows. */
export function endBehind(ledger: Ledger, path: string, runId: string): RunEnd {
  const started = ledger.invocations.byPath.get(path)?.start.seq ?? 0;
  const end = ledger.events
    .slice(started)
    .find(
      (event): event is EventOf<'invocation_end'> =>
        event.type === 'invocation_end' && isRootOf(event.invocationId, runId),
    );
  return {
    status: end?.status === 'error' ? 'error' : 'completed',
    output: ledger.resolve(end?.output) as JsonValue | undefined,
    error: end?.error,
    stopReason: end?.stopReason,
  };
}

/** True for a run that completed or failed, also by its time limit; not for a cancelled one. */
function isFollowed({ status }: BodyEnd, { reason }: CancelScope): boolean {
  if (status === 'completed' || status === 'error') return true;
  return status === 'cancelled' && reason?.code === 'timeout';
}

/** Executions of `postProcess` of a run. One that was reopened after a failure has several. */
function recordsOf({ invocations }: Ledger, runId: string, name: string): InvocationRecord[] {
  const records: InvocationRecord[] = [];
  for (;;) {
    const record = invocations.byPath.get(pathOf(runId, name, records.length + 1));
    if (record === undefined) return records;
    records.push(record);
  }
}

function pathOf(runId: string, name: string, number: number): string {
  return childPath(runId, number === 1 ? name : `${name}.${number}`);
}

function isReopenedSince({ events }: Ledger, runId: string, { start }: InvocationRecord): boolean {
  return events
    .slice(start.seq)
    .some((event) => event.type === 'invocation_reopen' && isRootOf(event.invocationId, runId));
}
