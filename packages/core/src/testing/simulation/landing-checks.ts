import type { Event, EventOf } from '../../ledger/event.ts';
import { sleepsUntil } from '../../ledger/folds/sleeps.ts';
import { hasTaken } from '../../ledger/folds/taken-message.ts';
import { openPaths } from './open-paths.ts';
import { checkOutcomeHeeded } from './repairs/outcome-checks.ts';
import type { ReportBroken, WatchedLedger } from './watched-ledger.ts';

/**
 * Checks an event at the moment it lands, with the events before it.
 * @param now epoch milliseconds by the store's clock
 */
export function checkLanding(
  ledger: WatchedLedger,
  event: Event,
  now: number,
  report: ReportBroken,
): void {
  checkOutcomeHeeded(ledger, event, report);
  switch (event.type) {
    case 'tool_result':
      if (event.settled && event.late !== true) checkSettledOnce(ledger, event, report);
      return;
    case 'tool_attempt':
      checkAttempt(ledger, event, report);
      return;
    case 'tool_input':
      checkInput(ledger, event, now, report);
      checkMessageOnce(ledger, event, report);
      return;
    case 'invocation_start':
      if (
        has(ledger, 'invocation_start', ({ invocationId }) => invocationId === event.invocationId)
      )
        report('one_start', `${ledger.session}: ${event.invocationId} began twice`);
      return;
    case 'invocation_end':
      checkEndOnce(ledger, event, report);
      checkSleep(ledger, event, now, report);
      checkDrift(ledger, event, report);
      return;
    case 'user':
      checkMessageOnce(ledger, event, report);
      return;
    default:
  }
}

function has<Type extends Event['type']>(
  { events }: WatchedLedger,
  type: Type,
  is: (event: EventOf<Type>) => boolean,
): boolean {
  return events.some((event) => event.type === type && is(event as EventOf<Type>));
}

/** A message is taken in once: as an input, or as an answer. */
function checkMessageOnce(
  { events, session }: WatchedLedger,
  { clientKey }: EventOf<'user' | 'tool_input'>,
  report: ReportBroken,
): void {
  if (clientKey !== undefined && events.some((event) => hasTaken(event, clientKey)))
    report('message_once', `${session}: ${clientKey} was taken in twice`);
}

function checkSettledOnce(
  ledger: WatchedLedger,
  { callId, seq }: EventOf<'tool_result'>,
  report: ReportBroken,
): void {
  // An effect whose unknown outcome was reopened may be settled again.
  const reopened = ledger.events.findLast(
    (event) => event.type === 'invocation_reopen' && event.effects?.includes(callId) === true,
  );
  const isSettled = has(
    ledger,
    'tool_result',
    (event) =>
      event.callId === callId &&
      event.settled &&
      event.late !== true &&
      event.seq > (reopened?.seq ?? 0),
  );
  if (isSettled) report('one_result', `${ledger.session}: ${callId} settled again at ${seq}`);
}

/** An attempt may have had its effect, if its result does not deny it: the next has its key. */
function checkAttempt(
  ledger: WatchedLedger,
  { attempt, callId, key }: EventOf<'tool_attempt'>,
  report: ReportBroken,
): void {
  const before = ledger.events.findLast(
    (event) => event.type === 'tool_attempt' && event.callId === callId,
  ) as EventOf<'tool_attempt'> | undefined;
  if (before === undefined) return;
  if (attempt <= before.attempt)
    report('attempts_counted', `${ledger.session}: ${callId} attempt ${attempt} came again`);
  const hadNoEffect = has(
    ledger,
    'tool_result',
    (event) =>
      event.callId === callId && event.attempt === before.attempt && event.effect === 'none',
  );
  if (!hadNoEffect && key !== before.key)
    report('same_key', `${ledger.session}: ${callId} attempt ${attempt} has another key`);
}

/** A request is answered once, and expires only when its time has come. */
function checkInput(
  ledger: WatchedLedger,
  { decision, requestId }: EventOf<'tool_input'>,
  now: number,
  report: ReportBroken,
): void {
  if (has(ledger, 'tool_input', (event) => event.requestId === requestId))
    report('one_answer', `${ledger.session}: ${requestId} was answered twice`);
  const asked = ledger.events.find(
    (event) => event.type === 'tool_yield' && event.requestId === requestId,
  ) as EventOf<'tool_yield'> | undefined;
  const left = (asked?.expiresAt ?? 0) - now;
  if (decision === 'expire' && left > 0)
    report('expiry_by_store', `${ledger.session}: ${requestId} expired ${left} ms early`);
}

function checkEndOnce(
  ledger: WatchedLedger,
  { invocationId, seq }: EventOf<'invocation_end'>,
  report: ReportBroken,
): void {
  const last = ledger.events.findLast(
    (event) =>
      (event.type === 'invocation_end' || event.type === 'invocation_reopen') &&
      event.invocationId === invocationId,
  );
  if (last?.type === 'invocation_end')
    report('one_end', `${ledger.session}: ${invocationId} ended again at ${seq}`);
}

/** A sleep ends when its recorded time has come, and not before. */
function checkSleep(
  { events, session }: WatchedLedger,
  { invocationId, status }: EventOf<'invocation_end'>,
  now: number,
  report: ReportBroken,
): void {
  const start = events.find(
    (event) => event.type === 'invocation_start' && event.invocationId === invocationId,
  );
  if (start?.type !== 'invocation_start' || start.kind !== 'sleep') return;
  const left = sleepsUntil(start.input) - now;
  // Store and watch may see two sides of one millisecond.
  if (status === 'completed' && left > 1)
    report('sleep_by_store', `${session}: ${invocationId} ended ${left} ms early`);
}

/** A body that no longer asks for an open child fails before it begins another in its place. */
function checkDrift(
  { events, session }: WatchedLedger,
  { error, invocationId, seq }: EventOf<'invocation_end'>,
  report: ReportBroken,
): void {
  if (error?.code !== 'orphaned_child') return;
  const resumes = events.filter(
    (event) => event.type === 'invocation_resume' && event.invocationId === invocationId,
  );
  const open = openPaths(events);
  const children = events.filter(
    (event) =>
      event.type === 'invocation_start' &&
      event.invocationId.startsWith(`${invocationId}/`) &&
      !event.invocationId.slice(invocationId.length + 1).includes('/'),
  ) as EventOf<'invocation_start'>[];
  const begun = children.find((child) =>
    children.some(
      (other) =>
        other.name === child.name &&
        open.has(other.invocationId) &&
        resumes.some((resume) => other.seq < resume.seq && resume.seq < child.seq),
    ),
  );
  if (begun !== undefined)
    report('drift_before_work', `${session}: ${begun.invocationId} began before ${seq}`);
}
