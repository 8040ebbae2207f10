import type { JsonValue } from '../../base/json.ts';
import type { Event, EventOf } from '../event.ts';
import type { Ledger } from '../ledger.ts';

/** An event that a message can be taken in by: as an input, or as an answer. */
type MessageEvent = EventOf<'user'> | EventOf<'tool_input'>;

/** An event by which a run has taken in a message with a key. */
type TakenMessage = MessageEvent & { readonly clientKey: string };

/** True for an event that took in a message; answers to a request itself are none. */
export function isMessage(event: Event): event is MessageEvent {
  if (event.type === 'user') return true;
  return event.type === 'tool_input' && (event.text !== undefined || event.clientKey !== undefined);
}

/** Checks that an event took in the message of a key: as an input, or as an answer. */
export function hasTaken(event: Event, clientKey: string): event is TakenMessage {
  const { type } = event;
  return (type === 'user' || type === 'tool_input') && event.clientKey === clientKey;
}

/** The text of a message as it is recorded; large texts are references. */
export function takenText(event: MessageEvent): JsonValue | undefined {
  return event.type === 'user' ? event.text : (event.text ?? event.input);
}

/**
 * Finds the event by which the message of a key was taken in.
 * @param text only a message with this text counts
 */
export function takenMessage(
  { events, resolve }: Pick<Ledger, 'events' | 'resolve'>,
  clientKey: string,
  text?: string,
): TakenMessage | undefined {
  return events.find(
    (event): event is TakenMessage =>
      hasTaken(event, clientKey) && (text === undefined || resolve(takenText(event)) === text),
  );
}
