import { canonicalJson, type JsonValue } from '../../../base/json.ts';
import { isFromOutside } from '../../../ledger/actor.ts';
import type { Event, EventOf } from '../../../ledger/event.ts';
import { parentOf } from '../../../ledger/path.ts';
import type { FoundOutcome } from '../simulated-program.ts';
import type { ReportBroken, WatchedLedger } from '../watched-ledger.ts';

type Result = EventOf<'tool_result'>;

/** An outcome that people told about an effect. */
export interface ToldOutcome {
  readonly session: string;
  readonly callId: string;
  readonly found: FoundOutcome;
  /** True when an app has confirmed it. */
  isConfirmed: boolean;
}

/** True for a result that people told, and no attempt came to. */
export function isTold(event: Event): event is Result {
  return event.type === 'tool_result' && isFromOutside(event.by);
}

/**
 * Checks an event at the moment it lands: an outcome that was told counts. It is told once for each
 * attempt, nothing else takes its place, and what happened is not done again.
 */
export function checkOutcomeHeeded(
  { events, session }: WatchedLedger,
  event: Event,
  report: ReportBroken,
): void {
  const callId = effectOf(event);
  if (callId === undefined) return;
  const last = events.findLast(
    (one): one is Result | EventOf<'tool_attempt'> =>
      (one.type === 'tool_attempt' && one.callId === callId) ||
      (isTold(one) && one.callId === callId),
  );
  if (last === undefined || !isTold(last)) return;
  const broken = (what: string): void =>
    report('outcome_heeded', `${session}: the outcome of ${callId} was told, and ${what}`);
  if (event.type === 'tool_attempt') {
    if (last.retryAfterMs === undefined) broken(`attempt ${event.attempt} is made`);
  } else if (event.type === 'invocation_end') broken('its body ends without it');
  else if (event.type === 'tool_result') {
    if (isFromOutside(event.by)) broken(`told again at ${event.seq}`);
    else if (event.settled && event.late !== true) broken('it has another result');
  }
}

/** Id of the effect that an event is about; also of an end of its body by an unknown outcome. */
function effectOf(event: Event): string | undefined {
  if (event.type === 'tool_attempt' || event.type === 'tool_result') return event.callId;
  if (event.type !== 'invocation_end' || event.error?.code !== 'effect_unknown') return undefined;
  const callId = event.error.data?.['callId'];
  // The invocations around its body end with the same error.
  return typeof callId === 'string' && parentOf(callId) === event.invocationId ? callId : undefined;
}

/** Checks that the outcomes in a ledger are those that people told, and that none is missing. */
export function checkOutcomesTold(
  { events, session }: WatchedLedger,
  told: readonly ToldOutcome[],
  report: ReportBroken,
): void {
  const outcomes = events.filter(isTold);
  for (const event of outcomes) {
    const tried = told.filter(({ callId }) => callId === event.callId);
    if (!tried.some(({ found }) => isOutcome(event, found)))
      report('outcome_heeded', `${session}: nobody told the outcome of ${event.callId}`);
  }
  for (const { callId, found, isConfirmed } of told)
    if (
      isConfirmed &&
      !outcomes.some((event) => event.callId === callId && isOutcome(event, found))
    )
      report('outcome_heeded', `${session}: the outcome of ${callId} was told, and is in no event`);
}

function isOutcome(
  { effect, result, retryAfterMs }: Result,
  { failed, happened, result: value = null }: FoundOutcome,
): boolean {
  if (happened)
    return result.status === 'success' && same(result.content as JsonValue) === same(value);
  if (effect !== 'none') return false;
  return failed === undefined ? retryAfterMs === 0 : result.content === failed;
}

function same(value: JsonValue | undefined): string {
  return canonicalJson(value ?? null);
}
