import type { Event } from '../ledger/event.ts';

/**
 * Events of a prompt that stay or leave together. A unit is one message, or an answer of a model
 * with its calls and their results.
 */
export interface PromptUnit {
  readonly events: Event[];
  /** Number of messages of the unit. */
  readonly messages: number;
}

/** Returns the key of the unit of an event: a round of an agent, or the event itself. */
function unitKey(event: Event): string {
  switch (event.type) {
    case 'thought':
    case 'tool_call':
      return `${event.invocationId}/r${event.round}`;
    case 'assistant':
      return event.round === undefined ? event.id : `${event.invocationId}/r${event.round}`;
    case 'tool_result':
      return event.late === true ? event.id : event.callId.slice(0, event.callId.lastIndexOf('.'));
    default:
      return event.id;
  }
}

class RoundUnit implements PromptUnit {
  readonly events: Event[] = [];

  get messages(): number {
    return this.events.some(({ type }) => type === 'tool_call') ? 2 : 1;
  }
}

/** Returns the units of a prompt, in the order in which they begin. */
export function promptUnits(events: readonly Event[]): readonly PromptUnit[] {
  const units = new Map<string, RoundUnit>();
  for (const event of events) {
    const key = unitKey(event);
    const unit = units.get(key) ?? new RoundUnit();
    units.set(key, unit);
    unit.events.push(event);
  }
  return [...units.values()];
}

/**
 * Returns the newest events that make up `count` messages. More are returned when it takes them to
 * keep calls and results together.
 */
export function newestMessages(events: readonly Event[], count: number): readonly Event[] {
  const newest: Event[] = [];
  if (count === 0) return newest;
  let messages = 0;
  for (const unit of promptUnits(events).toReversed()) {
    if (messages >= count) break;
    messages += unit.messages;
    newest.push(...unit.events);
  }
  return newest;
}
