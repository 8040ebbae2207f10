import { changesGrants } from '../engine/frame/grants.ts';
import { isFromOutside } from '../ledger/actor.ts';
import { isDecision } from '../ledger/decisions/decision.ts';
import type { Event, EventDraft } from '../ledger/event.ts';

/**
 * Components whose decisions come from outside: no code makes them again. The number of waiting
 * runs of a user is known from other sessions, and so are the tasks that go first.
 */
const foreignComponents: ReadonlySet<string> = new Set([
  'inbox',
  'approval_token',
  'fork',
  'session',
  'shared_state',
  'run',
  'scheduler',
]);

/**
 * Returns the name of the stream of an event. Two runs must have the same order of events within a
 * stream. Concurrent events come in any order. So each call of a round has a stream of its own, and
 * so has each component that decides.
 */
export function streamOf(event: EventDraft): string {
  const path = event.invocationId ?? '';
  switch (event.type) {
    case 'tool_attempt':
    case 'tool_result':
    case 'tool_yield':
    case 'tool_input':
      return `call ${event.callId}`;
    case 'decision':
      return `decision ${path} ${event.component} ${event.data?.['callId'] ?? ''}`;
    case 'state_change':
      return `state ${path} ${event.by} ${event.scope} ${event.flush ?? ''}`;
    default:
      return `path ${path}`;
  }
}

/**
 * True when an event came from outside and no code makes it again. A replay puts it where it stood.
 */
export function comesFromOutside(event: Event): boolean {
  // No run made it: it was written through the session, beside all runs.
  if (event.invocationId === undefined) return event.type !== 'cancel';
  switch (event.type) {
    case 'user':
    case 'tool_input':
    case 'invocation_reopen':
      return true;
    case 'tool_result':
      return event.late === true || isFromOutside(event.by);
    case 'state_change':
      return event.source === 'observation';
    case 'decision':
      return (
        foreignComponents.has(event.component) ||
        isDecision(event, 'limits', 'too_many_waiting') ||
        isDecision(event, 'limits', 'message_expired') ||
        changesGrants(event) ||
        isDecision(event, 'request', 'standing', 'withdraw_standing') ||
        event.by.startsWith('user') ||
        event.by.startsWith('operator')
      );
    default:
      return false;
  }
}

/**
 * True when an event may come from the inbox or from code: the decision about an answer that did
 * not count, or a question that is asked again. It is not made twice.
 */
export function mayComeFromOutside(event: Event, before: Event | undefined): boolean {
  if (event.type === 'decision')
    return isDecision(event, 'request') && !isDecision(event, 'request', 'covered');
  return event.type === 'tool_yield' && isDecision(before, 'request');
}

/** True for the marks that a process leaves when it resumes an invocation or stops. */
export function isMark(event: EventDraft): boolean {
  return event.type === 'invocation_resume' || event.type === 'invocation_yield';
}
