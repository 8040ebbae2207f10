import { canonicalJson } from '../../../base/json.ts';
import { isDecision } from '../../../ledger/decisions/decision.ts';
import type { Event, EventOf, RequestDetails } from '../../../ledger/event.ts';
import { hasTaken, takenText } from '../../../ledger/folds/taken-message.ts';
import { rootOf } from '../../../ledger/path.ts';
import { isGoingOn } from '../open-paths.ts';
import type { ReportBroken, WatchedLedger } from '../watched-ledger.ts';
import { firstInstant } from '../world.ts';
import type { SaidMessage } from './messages.ts';

type Answer = EventOf<'tool_input'>;
type Asked = EventOf<'tool_yield'>;

/** Messages of people, and the times of all items of the inboxes, by their keys. */
interface MessagesOfPeople {
  readonly said: ReadonlyMap<string, SaidMessage>;
  readonly datedAt: ReadonlyMap<string, number>;
}

/**
 * Checks the messages that people gave in the place of answers: each is recorded as it was said,
 * and answers what it was meant for, if that waited and no other answer came first.
 */
export function checkMessages(
  ledger: WatchedLedger,
  { datedAt, said }: MessagesOfPeople,
  report: ReportBroken,
): void {
  const { events, session } = ledger;
  for (const [clientKey, message] of said) {
    if (message.session !== session) continue;
    const taken = events.filter((event) => hasTaken(event, clientKey));
    if (taken.length > 1) report('message_once', `${session}: ${clientKey} was taken in twice`);
    const [event] = taken;
    if (event === undefined) continue;
    if (takenText(event) !== message.text)
      report('answer_heeded', `${session}: ${clientKey} has other words: ${takenText(event)}`);
    const sentAt = datedAt.get(`message:${clientKey}`) ?? event.at;
    if (event.type === 'user') checkNotTaken(ledger, event, { ...message, sentAt }, report);
  }
  for (const event of events)
    if (event.type === 'tool_input' && event.clientKey !== undefined)
      checkOnlyOne(ledger, event, report);
}

/**
 * A message that is no answer: it fits several requests, or its own did not wait any more. A
 * process that heard from the store late, or never, may have dated it before its request.
 */
function checkNotTaken(
  { events, landedAt, session }: WatchedLedger,
  { clientKey, seq }: EventOf<'user'>,
  { requestId, sentAt }: SaidMessage & { readonly sentAt: number },
  report: ReportBroken,
): void {
  if (isDecision(events[seq], 'inbox', 'ambiguous_answer')) return;
  const asked = requestOf(events, requestId);
  const at = firstInstant + (landedAt[seq - 1] ?? 0);
  if (asked === undefined || asked.seq >= seq || !isBetween(asked, sentAt)) return;
  if (isWaiting(events, asked, { seq, at }))
    report('answer_taken', `${session}: ${clientKey} is read as no answer`);
}

/** True for a time at which a request had been made and had not expired, by clocks that differ. */
function isBetween({ at, expiresAt = Number.POSITIVE_INFINITY }: Asked, time: number): boolean {
  return at <= time && time < expiresAt;
}

/** A message answers none of several requests that ask for the same. */
function checkOnlyOne({ events, session }: WatchedLedger, answer: Answer, report: ReportBroken) {
  const { at, answeredAt = at, requestId, seq } = answer;
  const asked = requestOf(events, requestId);
  if (asked === undefined) return;
  const alike = events.find(
    (event): event is Asked =>
      event.type === 'tool_yield' &&
      event.requestId !== requestId &&
      event.seq < seq &&
      event.at <= answeredAt &&
      formOf(event) === formOf(asked) &&
      isWaiting(events, event, { seq, at }),
  );
  if (alike !== undefined)
    report(
      'answer_heeded',
      `${session}: a message answers ${asked.callId}, and would answer ${alike.callId} as well`,
    );
}

/** True for a request that waits right before an event, and has no answer in the inbox. */
function isWaiting(
  events: readonly Event[],
  { expiresAt = Number.POSITIVE_INFINITY, invocationId = '', requestId }: Asked,
  { at, seq }: Pick<Event, 'at' | 'seq'>,
): boolean {
  if (expiresAt <= at || !isGoingOn(events.slice(0, seq - 1), invocationId)) return false;
  return !events.some(
    (event) =>
      (event.type === 'tool_input' &&
        event.requestId === requestId &&
        (event.seq < seq || (event.answeredAt ?? event.at) <= at)) ||
      (event.type === 'decision' && event.data?.['requestId'] === requestId),
  );
}

function requestOf(events: readonly Event[], requestId: string): Asked | undefined {
  return events.find(
    (event): event is Asked => event.type === 'tool_yield' && event.requestId === requestId,
  );
}

/** The form of a request: equal texts for requests that take the same messages. */
function formOf({ callId, invocationId = '', kind, name, request }: Asked): string {
  const { agent, inputSchema = null, mayDecide = [] } = request as RequestDetails;
  const of = callId === invocationId ? [] : [agent, name];
  return canonicalJson([rootOf(invocationId), kind, inputSchema, [...mayDecide], ...of]);
}
