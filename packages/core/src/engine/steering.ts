import { AbortReason } from '../base/cancel-scope.ts';
import { isAdjutantError } from '../base/error.ts';
import { postCancel } from '../ledger/answer.ts';
import type { RunControl, RunSink } from './run.ts';
import type { RunContext } from './run-context.ts';

/** Lets a run be cancelled and stopped, and tells its sink what becomes durable. Returns a function that ends it. */
export function listen(run: RunContext, sink: RunSink, signal: AbortSignal | undefined, control: Pick<RunControl, 'poke' | 'stop'>): () => void {
  const { ledger } = run;
  const cancel = (reason?: string): void => {
    if (ledger.failure !== undefined) return;
    const message = reason ?? 'The run was cancelled.';
    // A run that is being given back is cancelled by whoever takes it up.
    if (run.scope.reason?.code === 'waiting') return void postCancel(ledger, { by: 'user', reason: message }).catch(() => undefined);
    if (run.scope.aborted) return;
    ledger.append([{ type: 'cancel', by: 'user', invocationId: run.runId, reason: message }]);
    run.abort(new AbortReason('cancelled', message));
  };
  const onSignal = (): void => cancel(messageOf(signal?.reason));
  const forgetters = [
    ledger.onDraft((event) => run.count(event)),
    ledger.onDurable((events) => {
      for (const event of events) sink.push(event);
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

/** What a person gave as the reason of an abort. */
function messageOf(reason: unknown): string | undefined {
  if (reason instanceof Error) return reason.message;
  return reason === undefined ? undefined : String(reason);
}

/** Why the work stops when its ledger can no longer be written. */
export function reasonOf(failure: unknown): AbortReason {
  if (isAdjutantError(failure, 'ledger_conflict')) return new AbortReason('fenced', 'Another process has taken the session over.');
  return new AbortReason('stopped', failure instanceof Error ? failure.message : String(failure));
}
