import { actorOf } from '../engine/requests/check.ts';
import type { Actor, EventOf, InvocationMode } from '../ledger/event.ts';
import { isMessage, takenText } from '../ledger/folds/taken-message.ts';
import { isRoot, rootOf } from '../ledger/path.ts';
import type { Session } from '../session/session.ts';
import type { AnsweredRequest, SpokenMessage } from './user.ts';

/**
 * Names the message at a place in a conversation: 0 is what the conversation was started with, the
 * user's own begin at 1.
 */
export function messageKey(conversation: string, place: number): string {
  return `${conversation}-${place}`;
}

/** The state of a conversation, read from the ledger. */
export interface ConversationState {
  /** Messages that came under the names of the conversation, by their places. */
  readonly places: ReadonlySet<number>;
  /** Root of its last run; missing before the first. */
  readonly lastRun: string | undefined;
  /** `seq` of its first message; 0 when it has none. */
  readonly since: number;
}

export function conversationState(
  { events, ledger }: Session,
  conversation: string,
): ConversationState {
  const places = new Set<number>();
  let since = 0;
  for (const event of events) {
    const place = isMessage(event) ? placeOf(event.clientKey, conversation) : undefined;
    if (place === undefined) continue;
    places.add(place);
    since ||= event.seq;
  }
  const lastRun = ledger.invocations.roots.findLast(
    (path) => placeOf(rootOf(path), conversation) !== undefined,
  );
  return { places, lastRun, since };
}

function placeOf(key: string | undefined, conversation: string): number | undefined {
  if (key === undefined || !key.startsWith(`${conversation}-`)) return undefined;
  const place = key.slice(conversation.length + 1);
  return /^\d+$/.test(place) ? Number(place) : undefined;
}

/**
 * Requests that one of these actors has answered after the event `since`, in the order of the
 * answers.
 */
export function answeredBy(
  { events }: Session,
  ids: readonly string[],
  since: number,
): readonly AnsweredRequest[] {
  const actors = new Set<Actor>(ids.map((id) => actorOf(id)));
  const asked = new Map<string, EventOf<'tool_yield'>>();
  const answered: AnsweredRequest[] = [];
  for (const event of events) {
    if (event.type === 'tool_yield') asked.set(event.requestId, event);
    if (event.type !== 'tool_input' || event.seq <= since || !actors.has(event.by)) continue;
    const request = asked.get(event.requestId);
    if (request !== undefined)
      answered.push({ requestId: event.requestId, kind: request.kind, toolName: request.name });
  }
  return answered;
}

/**
 * Number of times in a row that an answer to the very same question came to nothing, so that it is
 * asked again now.
 */
export function refusalsInARow(
  { events }: Session,
  requestId: string,
  ids: readonly string[],
): number {
  const actors = new Set<Actor>(ids.map((id) => actorOf(id)));
  const request = events.find(
    (event): event is EventOf<'tool_yield'> =>
      event.type === 'tool_yield' && event.requestId === requestId,
  );
  if (request === undefined) return 0;
  const { callId, kind, fingerprint } = request;
  let refusals = 0;
  let isAnswered = false;
  for (const event of events) {
    if (event.type === 'tool_input' && event.callId === callId) isAnswered = actors.has(event.by);
    if (event.type !== 'tool_yield' || event.callId !== callId) continue;
    refusals =
      isAnswered && event.kind === kind && event.fingerprint === fingerprint ? refusals + 1 : 0;
    isAnswered = false;
  }
  return refusals;
}

const heardModes: ReadonlySet<InvocationMode> = new Set(['root', 'child', 'transfer']);

/**
 * Returns the messages of a session, by the user and to the user. Messages between agents are left
 * out.
 */
export function spokenMessages({ events, ledger }: Session): readonly SpokenMessage[] {
  const { byPath } = ledger.invocations;
  const heard = new Map<string, boolean>();
  const isHeard = (path: string | undefined): boolean => {
    if (path === undefined) return true;
    const known = heard.get(path);
    if (known !== undefined) return known;
    const record = byPath.get(path);
    const is = record === undefined || (heardModes.has(record.mode) && isHeard(record.parent));
    heard.set(path, is);
    return is;
  };
  const spoken: SpokenMessage[] = [];
  /** Runs in which something was said to the user. */
  const talking = new Set<string>();
  for (const event of events) {
    if (isMessage(event))
      spoken.push({ role: 'user', text: String(ledger.resolve(takenText(event))) });
    if (event.type === 'assistant' && isHeard(event.invocationId)) {
      talking.add(rootOf(event.invocationId ?? ''));
      spoken.push({ role: 'assistant', text: String(ledger.resolve(event.text)) });
    }
    if (
      event.type !== 'invocation_end' ||
      event.status !== 'completed' ||
      event.output === undefined
    )
      continue;
    // The output of a run that is no message, such as the output of a step.
    const isSilentRoot = isRoot(event.invocationId) && !talking.has(rootOf(event.invocationId));
    const output = ledger.resolve(event.output);
    if (isSilentRoot)
      spoken.push({
        role: 'assistant',
        text: typeof output === 'string' ? output : JSON.stringify(output),
      });
  }
  return spoken;
}

/** Returns the text that was said to the user since the last message of the user. */
export function replyOf(messages: readonly SpokenMessage[]): string {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(last + 1)
    .map(({ text }) => text)
    .join('\n\n');
}
