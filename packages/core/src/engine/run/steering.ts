import { AbortReason } from '../../base/cancel-scope.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { isOfOtherLane } from '../../ledger/folds/lanes.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { belongsTo } from '../../ledger/path.ts';
import { postCancel } from '../../session/answer.ts';
import { inFlightOn } from '../frame/in-flight.ts';
import type { RunContext } from '../frame/run-context.ts';
import type { RunControl, RunSink } from './run.ts';

/**
 * Connects a run with its sink: the caller can cancel and stop it, and the sink gets its durable
 * events. Returns a function that ends it.
 */
export function listen(
  run: RunContext,
  sink: RunSink,
  signal: AbortSignal | undefined,
  { landed, ...control }: Pick<RunControl, 'poke' | 'stop'> & { landed(seq: number): void },
): () => void {
  const { ledger } = run;
  const cancel = (reason?: string): void => {
    if (ledger.failure !== undefined) return;
    const message = reason ?? 'The run was cancelled.';
    // The next process that continues a run under release cancels it.
    if (run.scope.reason?.code === 'waiting')
      return void postCancel(ledger, { by: 'user', reason: message, runId: run.runId }).catch(
        () => undefined,
      );
    if (run.scope.aborted) return;
    ledger.append([{ type: 'cancel', by: 'user', invocationId: run.runId, reason: message }]);
    run.abort(new AbortReason('cancelled', message));
  };
  const onSignal = (): void => cancel(messageOf(signal?.reason));
  const forgetters = [
    ledger.onDraft((event) => run.budget.count(event)),
    ledger.onDurable((events) => {
      for (const event of events) {
        landed(event.seq - 1);
        if (isOfOtherLane(ledger.invocations, event, run.lane)) continue;
        sink.push(event);
        run.agents.hear(event);
      }
      landed(ledger.durableSeq);
    }),
    ledger.onFailure((error) => run.abort(reasonOf(error))),
    () => signal?.removeEventListener('abort', onSignal),
    () => run.close(),
  ];
  sink.attach({ cancel, ...control });
  if (signal?.aborted) onSignal();
  else signal?.addEventListener('abort', onSignal, { once: true });
  return () => {
    for (const forget of forgetters) forget();
  };
}

/** Text of the reason that the caller aborted with. */
function messageOf(reason: unknown): string | undefined {
  if (reason instanceof Error) return reason.message;
  return reason === undefined ? undefined : String(reason);
}

/** Reason for the work to stop when its ledger can no longer be written. */
export function reasonOf(failure: unknown): AbortReason {
  if (isAdjutantError(failure, 'ledger_conflict'))
    return new AbortReason('fenced', 'Another process has taken the session over.');
  return new AbortReason('stopped', failure instanceof Error ? failure.message : String(failure));
}

/**
 * Aborts the work that earlier turns and runs of this root dispatched and that is still under way.
 */
export function abortBelow(ledger: Ledger, runId: string, reason: AbortReason): void {
  for (const [path, { scope }] of inFlightOn(ledger).underWay)
    if (belongsTo(path, runId)) scope.abort(reason);
}

/** Waits until no work of an abandoned run is under way. */
export async function workEnded({ ledger, runId }: RunContext): Promise<void> {
  const { underWay } = inFlightOn(ledger);
  await Promise.allSettled(
    [...underWay].filter(([path]) => belongsTo(path, runId)).map(([, { ended }]) => ended),
  );
}

/**
 * Aborts a run that was cancelled before its process stopped, or a task that was cancelled before
 * it began: it only ends.
 */
export function applyEarlierCancel(run: RunContext, open: InvocationRecord | undefined): void {
  if (open?.end !== undefined) return;
  // A run that was reopened after it was cancelled goes on.
  const cancel = run.ledger.events.findLast(
    ({ type, invocationId }) =>
      (type === 'cancel' || type === 'invocation_reopen') && invocationId === run.runId,
  );
  if (cancel?.type === 'cancel')
    run.abort(new AbortReason('cancelled', cancel.reason ?? 'The run was cancelled.'));
}
