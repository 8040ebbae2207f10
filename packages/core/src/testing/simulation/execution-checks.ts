import type { ExecutionMessage } from '../../effects/execution-channel.ts';
import type { Event, EventOf } from '../../ledger/event.ts';
import { isBelow } from '../../ledger/path.ts';
import type { ReportBroken, WatchedLedger } from './watched-ledger.ts';

/**
 * Checks that a tool or an effect may begin: its attempt is durable, its process owns the session,
 * and nothing that may have happened happens again.
 * @param executions number of executions so far, by session, call and attempt
 */
export function checkExecution(
  { epoch, events, session }: WatchedLedger,
  { attempt, callId, ledger, recovery }: ExecutionMessage,
  executions: Map<string, number>,
  report: ReportBroken,
): void {
  const about = `${session}: ${callId} attempt ${attempt}`;
  const attempts = events.filter(
    (event): event is EventOf<'tool_attempt'> =>
      event.type === 'tool_attempt' && event.callId === callId,
  );
  if (recovery !== 'rerun' && !attempts.some((event) => event.attempt === attempt))
    report('attempt_before_effect', about);
  if (ledger.lease.epoch !== epoch)
    report('owner_acts', `${about} in epoch ${ledger.lease.epoch}, now ${epoch}`);
  const key = `${session} ${callId} ${attempt}`;
  const count = (executions.get(key) ?? 0) + 1;
  executions.set(key, count);
  // A call with children is continued by running its body again.
  if (recovery === 'rerun' || events.some((event) => isBelowCall(event, callId))) return;
  if (count > 1) report('effect_once', `${about} began ${count} times`);
  const open = attempts.find(
    (made) => made.attempt < attempt && !isWithoutEffect(events, callId, made.attempt),
  );
  if (open !== undefined)
    report('effect_once', `${about}, and attempt ${open.attempt} may have had its effect`);
}

function isBelowCall({ invocationId }: Event, callId: string): boolean {
  return invocationId !== undefined && isBelow(invocationId, callId);
}

/** True when an attempt, or what was found out about it, is known to have had no effect. */
function isWithoutEffect(events: readonly Event[], callId: string, attempt: number): boolean {
  return events.some(
    (event) =>
      event.type === 'tool_result' &&
      event.callId === callId &&
      event.attempt === attempt &&
      event.effect === 'none',
  );
}
