import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { runReport } from '../../ledger/run-report.ts';
import { isApproval, pendingCalls } from '../../session/pending-call.ts';
import type { Session } from '../../session/session.ts';
import { isBelow } from '../frame/run-context.ts';
import type { RunResult } from './run.ts';

/** The last record of a slot, hand-overs followed. */
export function lastRecord(
  { invocations }: Pick<Ledger, 'invocations'>,
  path: string,
): InvocationRecord | undefined {
  let record = invocations.byPath.get(path);
  while (record?.next !== undefined) {
    const next = invocations.byPath.get(`${record.path}>${record.next.name}`);
    if (next === undefined) break;
    record = next;
  }
  return record;
}

/** What a run that ended gives. */
export function endedResult(session: Session, runId: string, record: InvocationRecord): RunResult {
  const { ledger } = session;
  return {
    ...runReport(ledger.events, runId, ledger.resolve),
    status:
      record.status === 'error' || record.status === 'cancelled' ? record.status : 'completed',
    output: ledger.resolve(record.output),
    error: record.error,
    stopReason: record.stopReason,
    pendingCalls: [],
    pendingApprovals: [],
    awaitingInput: false,
    yieldedInvocationId: undefined,
    runId,
    session,
  };
}

/** What the last run of a session gave that has none under way. */
export function lastResult(session: Session): RunResult | undefined {
  const { ledger } = session;
  const last = ledger.invocations.roots.at(-1);
  const record = last === undefined ? undefined : lastRecord(ledger, last);
  return last === undefined || record === undefined
    ? undefined
    : endedResult(session, last, record);
}

/** What a run gives that waits for somebody outside. */
export function yieldedResult(session: Session, runId: string): RunResult {
  const { ledger } = session;
  const pending = pendingCalls(ledger).filter(({ invocationId }) => isBelow(invocationId, runId));
  const waiting = [...ledger.invocations.byPath.values()].filter(
    ({ path, status }) => status === 'yielded' && isBelow(path, runId),
  );
  const loop = waiting.find(({ kind, yielded }) => kind === 'loop' && yielded === 'input');
  const asking = waiting.find(({ path }) =>
    pending.some(({ invocationId }) => invocationId === path),
  );
  return {
    ...runReport(ledger.events, runId, ledger.resolve),
    status: 'yielded',
    output: undefined,
    error: undefined,
    stopReason: undefined,
    pendingCalls: pending,
    pendingApprovals: pending.filter(isApproval),
    awaitingInput: loop !== undefined,
    yieldedInvocationId: (loop ?? asking ?? waiting[0])?.path,
    runId,
    session,
  };
}
