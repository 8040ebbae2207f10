import { changesGrants } from '../engine/frame/grants.ts';
import type { Event, EventDraft } from '../ledger/event.ts';

/**
 * Decisions about what came from outside: nobody's code makes them again. How many runs of a user
 * wait is known from other sessions.
 */
const foreignComponents: ReadonlySet<string> = new Set([
  'inbox',
  'approval_token',
  'fork',
  'session',
  'shared_state',
  'run',
]);

/**
 * Events in which two runs must have the same order. What happens beside each other comes as it
 * comes, so each call of a round has an order of its own, and so has each component that decides
 * something.
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
 * What the record says of the world outside, and what nobody's code makes again: it is put where it
 * stood.
 */
export function comesFromOutside(event: Event): boolean {
  // Nobody's run: what was written through the session, beside all runs.
  if (event.invocationId === undefined) return event.type !== 'cancel';
  switch (event.type) {
    case 'user':
    case 'tool_input':
    case 'invocation_reopen':
      return true;
    case 'tool_result':
      return event.late === true;
    case 'state_change':
      return event.source === 'observation';
    case 'decision':
      return (
        foreignComponents.has(event.component) ||
        event.decision === 'too_many_waiting' ||
        changesGrants(event) ||
        event.by.startsWith('user') ||
        event.by.startsWith('operator')
      );
    default:
      return false;
  }
}

/**
 * What the inbox made of an answer that did not count, or what code makes of a question that is
 * asked again: whoever made it, it is not made twice.
 */
export function mayComeFromOutside(event: Event, before: Event | undefined): boolean {
  if (event.type === 'decision') return event.component === 'request';
  return (
    event.type === 'tool_yield' && before?.type === 'decision' && before.component === 'request'
  );
}

/** Marks of processes coming and going. */
export function isMark(event: EventDraft): boolean {
  return event.type === 'invocation_resume' || event.type === 'invocation_yield';
}
