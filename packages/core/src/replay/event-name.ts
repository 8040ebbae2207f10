import type { EventDraft, StateChange } from '../ledger/event.ts';

/** Names an event in a few words: `the call of search`, `the end of run_1/writer`. */
export function nameOf(event: EventDraft): string {
  switch (event.type) {
    case 'user':
      return 'a message of the user';
    case 'assistant':
      return `an answer of ${event.agent}`;
    case 'thought':
      return `a thought of ${event.agent}`;
    case 'tool_call':
      return `the call of ${event.name} (${event.callId})`;
    case 'tool_attempt':
      return `attempt ${event.attempt} of ${event.callId}`;
    case 'tool_result':
      return `the result of ${event.name} (${event.callId})`;
    case 'tool_yield':
      return event.kind === 'limit'
        ? `the question about a limit (${event.name})`
        : `the question about ${event.name} (${event.kind}, ${event.callId})`;
    case 'tool_input':
      return `the answer to ${event.callId}`;
    case 'state_change':
      return `a change of the ${event.scope} state (${keysOf(event.changes)})`;
    case 'invocation_start':
      return `the start of the ${event.kind} "${event.name}"`;
    case 'invocation_end':
      return `the end of ${event.invocationId} as ${event.status}`;
    case 'model_start':
      return `model call ${event.round} of ${event.agent}`;
    case 'model_end':
      return `the end of model call ${event.round}`;
    case 'handoff':
      return `the handoff from ${event.from} to ${event.to}`;
    case 'decision':
      return `the decision "${event.decision}" of ${event.component}`;
    default:
      return `a ${event.type.replaceAll('_', ' ')} event`;
  }
}

function keysOf(changes: readonly StateChange[]): string {
  return changes.map(({ key }) => key).join(', ');
}

/** Returns a text with its first letter in upper case. */
export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
