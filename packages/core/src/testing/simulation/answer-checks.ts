import { canonicalJson, type JsonValue } from '../../base/json.ts';
import type { RequestAnswer } from '../../engine/requests/check.ts';
import type { Event, EventOf } from '../../ledger/event.ts';
import type { ReportBroken, WatchedLedger } from './watched-ledger.ts';

/** Answers of people, by the ids of the requests. */
export type AnswersOfPeople = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Checks that the answers in a ledger are those that people gave, and that its run acted upon them.
 * @param given all answers that people tried to give
 * @param answered answers that an app has confirmed
 */
export function checkAnswersHeeded(
  ledger: WatchedLedger,
  given: AnswersOfPeople,
  answered: AnswersOfPeople,
  report: ReportBroken,
): void {
  for (const event of ledger.events) {
    // The runtime answers for itself, and a message may be taken as an answer.
    if (event.type !== 'tool_input' || event.by === 'runtime' || event.clientKey !== undefined)
      continue;
    checkGiven(ledger, event, { given, answered }, report);
    if (event.callId === event.invocationId) checkQuestion(ledger, event, report);
    else checkActedUpon(ledger, event, report);
  }
}

/** An answer in the ledger is the one that was confirmed, or one that somebody tried to give. */
function checkGiven(
  { session }: WatchedLedger,
  event: EventOf<'tool_input'>,
  { answered, given }: { readonly answered: AnswersOfPeople; readonly given: AnswersOfPeople },
  report: ReportBroken,
): void {
  const wanted = [...(answered.get(event.requestId) ?? given.get(event.requestId) ?? [])];
  const found = contentOf(event);
  const contents = wanted.map((text) => contentOf(JSON.parse(text) as RequestAnswer));
  if (!contents.includes(found))
    report('answer_heeded', `${session}: ${event.callId} has ${found}, not ${contents.join(', ')}`);
}

function contentOf({ decision, input }: RequestAnswer | EventOf<'tool_input'>): string {
  return canonicalJson({ decision: decision ?? 'answer', input: input ?? null });
}

/** A call with a final answer is carried out, refused or settled as the answer says. */
function checkActedUpon(
  { events, session }: WatchedLedger,
  answer: EventOf<'tool_input'>,
  report: ReportBroken,
): void {
  const { callId, decision, input = null, seq } = answer;
  const later = events.slice(seq).filter((event) => isOfCall(event, callId));
  // A call that is asked about again has another answer.
  if (later.some(({ type }) => type === 'tool_yield' || type === 'tool_input')) return;
  const isRun = later.some(({ type }) => type === 'tool_attempt');
  const settled = later.find((event) => event.type === 'tool_result' && event.settled);
  const result = settled?.type === 'tool_result' ? settled : undefined;
  const told = (what: string): void =>
    report('answer_heeded', `${session}: ${callId} was answered with ${decision}, and ${what}`);
  if (decision === 'reject' && isRun) told('was run');
  if (decision === 'reject' && result?.result.status === 'success') told('succeeded');
  if (result?.result.status !== 'success') return;
  if (decision === 'edit' && !isSame(result.editedArgs, input)) told('had other arguments');
  if (decision === 'succeeded' && !isSame(result.result.content, input)) told('has another result');
}

/** A question of a step ends with its answer. */
function checkQuestion(
  { events, session }: WatchedLedger,
  { callId, decision, input = null, seq }: EventOf<'tool_input'>,
  report: ReportBroken,
): void {
  const end = events.find(
    (event) =>
      event.seq > seq &&
      ((event.type === 'invocation_end' && event.invocationId === callId) ||
        (event.type === 'tool_yield' && event.callId === callId)),
  );
  if (end?.type !== 'invocation_end' || end.status === 'cancelled') return;
  const approved = (end.output as { readonly approved?: unknown } | undefined)?.approved;
  const isWrong =
    decision === 'approve'
      ? approved !== true
      : decision === 'reject'
        ? approved !== false && end.error?.code !== 'question_rejected'
        : !isSame(end.output, input);
  if (isWrong)
    report(
      'answer_heeded',
      `${session}: ${callId} was answered with ${decision}, and ended otherwise`,
    );
}

function isOfCall(event: Event, callId: string): boolean {
  return 'callId' in event && event.callId === callId;
}

function isSame(found: unknown, wanted: JsonValue): boolean {
  return canonicalJson((found ?? null) as JsonValue) === canonicalJson(wanted);
}
