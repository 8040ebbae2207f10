import { isFromOutside } from '../ledger/actor.ts';
import { isDecision } from '../ledger/decisions/decision.ts';
import type { Event, EventOf } from '../ledger/event.ts';

/**
 * The outcome of a model call or an attempt: the events of the append that recorded it, without
 * gaps.
 */
export interface Outcome {
  readonly events: readonly Event[];
  /** The event that ends the model call or the attempt. */
  readonly end: Event;
}

/**
 * True when no hook, guardrail, check or router changed the output of a model or a tool. Each of
 * them leaves a decision, a note or a write. Today's code can then handle the output.
 */
export function isRaw({ events, end }: Outcome): boolean {
  if (end.type === 'model_end') {
    const isPlain =
      end.status === 'completed' && end.substitutedBy === undefined && end.error === undefined;
    return (
      isPlain &&
      events.every(
        ({ type }) =>
          type === 'thought' ||
          type === 'assistant' ||
          type === 'tool_call' ||
          type === 'model_end',
      )
    );
  }
  if (
    end.type !== 'tool_result' ||
    events.length > 1 ||
    !end.settled ||
    end.next !== undefined ||
    end.editedArgs !== undefined
  )
    return false;
  const { status, content: _content, ...more } = end.result;
  return status === 'success' && Object.keys(more).length === 0 && (end.notes?.length ?? 0) === 0;
}

/** Returns the key of a recorded outcome. */
export const modelKey = (path: string, round: number, attempt: number): string =>
  `model ${path} ${round} ${attempt}`;
export const attemptKey = (callId: string, attempt: number): string =>
  `attempt ${callId} ${attempt}`;

/**
 * Checks that a decision follows from a failed model call and stands behind its end, in the same
 * append. Decisions about calls of tools may come in the same moment.
 */
function isPlan(event: EventOf<'decision'>): boolean {
  if (event.data?.['callId'] !== undefined) return false;
  return (
    isDecision(event, 'models') ||
    isDecision(event, 'error_handler') ||
    isDecision(event, 'hooks', 'failed')
  );
}

/**
 * Returns the outcomes in a part of a ledger, in their order.
 * @param isServed tells if the outcome that ends with this event is to be served
 */
export function outcomesIn(
  events: readonly Event[],
  isServed: (end: Event) => boolean,
): ReadonlyMap<string, Outcome[]> {
  const found = new Map<string, Outcome[]>();
  events.forEach((event, at) => {
    const key = keyOf(event);
    if (key === undefined || !isServed(event)) return;
    const first =
      event.type === 'model_end'
        ? startOfAnswer(events, at, event)
        : startOfResult(events, at, event as EventOf<'tool_result'>);
    const last = event.type === 'model_end' ? endOfAnswer(events, at, event) : at;
    // An attempt can lead to a question, and later to an answer.
    found.set(key, [
      ...(found.get(key) ?? []),
      { events: events.slice(first, last + 1), end: event },
    ]);
  });
  return found;
}

function keyOf(event: Event): string | undefined {
  switch (event.type) {
    case 'model_end':
      return modelKey(event.invocationId, event.round, event.attempt);
    case 'tool_result':
      return event.attempt === 0 || event.late === true || isFromOutside(event.by)
        ? undefined
        : attemptKey(event.callId, event.attempt);
    // An attempt can end without a result: with an operation that goes on elsewhere, or with the
    // question whether it took effect.
    case 'tool_yield':
      return event.attempt === undefined ? undefined : attemptKey(event.callId, event.attempt);
    default:
      return undefined;
  }
}

const isOfAppend = (event: Event | undefined, end: Event): event is Event =>
  event !== undefined && event.at === end.at && event.invocationId === end.invocationId;

function startOfAnswer(events: readonly Event[], at: number, end: EventOf<'model_end'>): number {
  let first = at;
  while (isOfAppend(events[first - 1], end) && isPartOfAnswer(events[first - 1] as Event)) first--;
  return first;
}

function isPartOfAnswer(event: Event): boolean {
  switch (event.type) {
    case 'thought':
    case 'assistant':
    case 'tool_call':
    case 'handoff':
    case 'memory':
      return true;
    case 'state_change':
      return event.source === 'mutation';
    case 'decision':
      return (
        !event.by.startsWith('user') && !isDecision(event, 'inbox') && !isDecision(event, 'run')
      );
    default:
      return false;
  }
}

function endOfAnswer(events: readonly Event[], at: number, end: EventOf<'model_end'>): number {
  let last = at;
  if (end.status !== 'error') return last;
  for (
    let next = events[last + 1];
    isOfAppend(next, end) && next.type === 'decision' && isPlan(next);
    next = events[last + 1]
  )
    last++;
  return last;
}

function startOfResult(
  events: readonly Event[],
  at: number,
  end: EventOf<'tool_result'> | EventOf<'tool_yield'>,
): number {
  let first = at;
  while (isOfAppend(events[first - 1], end) && isPartOfResult(events[first - 1] as Event, end))
    first--;
  return first;
}

/** Decisions that stand with the result that they are about, and do not name its call. */
const partsOfResults: ReadonlySet<string> = new Set(['handoff', 'result_check']);

function isPartOfResult(event: Event, { callId }: { readonly callId: string }): boolean {
  switch (event.type) {
    case 'state_change':
      return event.source === 'mutation' && event.flush === undefined;
    case 'memory':
    case 'handoff':
    case 'error':
      return true;
    case 'decision':
      if (event.data?.['callId'] !== undefined) return event.data['callId'] === callId;
      return partsOfResults.has(event.component) || isDecision(event, 'hooks', 'failed');
    default:
      return false;
  }
}
