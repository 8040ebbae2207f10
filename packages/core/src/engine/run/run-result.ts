import { confidenceIn } from '../../ledger/folds/confidence.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { lastRecord } from '../../ledger/folds/invocation-fold.ts';
import { laneAt } from '../../ledger/folds/lanes.ts';
import { firstSleepEnd } from '../../ledger/folds/sleeps.ts';
import { belongsTo } from '../../ledger/path.ts';
import { runReport } from '../../ledger/run-report.ts';
import { isApproval, pendingCalls } from '../../session/pending-request.ts';
import type { Session } from '../../session/session.ts';
import type { RunResult } from './run.ts';

/** The result of a run that ended. */
export function endedResult(session: Session, runId: string, record: InvocationRecord): RunResult {
  const { ledger } = session;
  return {
    ...runReport(ledger.events, runId, ledger.resolve),
    status:
      record.status === 'error' || record.status === 'cancelled' ? record.status : 'completed',
    output: ledger.resolve(record.output),
    confidence: confidenceIn(record, ledger.invocations, ledger.resolve),
    error: record.error,
    stopReason: record.stopReason,
    pendingCalls: [],
    pendingApprovals: [],
    awaitingInput: false,
    sleepsUntil: undefined,
    yieldedInvocationId: undefined,
    runId,
    session,
  };
}

/** The result of the last run of a lane, or of all lanes, without a run under way. */
export function lastResult(session: Session, lane: string | undefined): RunResult | undefined {
  const { ledger } = session;
  const last = ledger.invocations.roots.findLast(
    (root) => lane === undefined || laneAt(ledger.invocations, root) === lane,
  );
  const record = last === undefined ? undefined : lastRecord(ledger.invocations, last);
  return last === undefined || record === undefined
    ? undefined
    : endedResult(session, last, record);
}

/** The result of a run that waits for an answer, a message or a resume. */
export function yieldedResult(session: Session, runId: string): RunResult {
  const { ledger } = session;
  const pending = pendingCalls(ledger).filter(({ invocationId }) => belongsTo(invocationId, runId));
  const waiting = [...ledger.invocations.byPath.values()].filter(
    ({ path, status }) => status === 'yielded' && belongsTo(path, runId),
  );
  const loop = waiting.find(({ kind, yielded }) => kind === 'loop' && yielded === 'input');
  const asking = waiting.find(({ path }) =>
    pending.some(({ invocationId }) => invocationId === path),
  );
  return {
    ...runReport(ledger.events, runId, ledger.resolve),
    status: 'yielded',
    output: undefined,
    confidence: undefined,
    error: undefined,
    stopReason: undefined,
    pendingCalls: pending,
    pendingApprovals: pending.filter(isApproval),
    awaitingInput: loop !== undefined,
    sleepsUntil: firstSleepEnd(ledger.invocations, laneAt(ledger.invocations, runId)) ?? undefined,
    yieldedInvocationId: (loop ?? asking ?? waiting[0])?.path,
    runId,
    session,
  };
}
