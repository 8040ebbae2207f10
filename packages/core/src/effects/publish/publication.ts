import type { JsonObject } from '../../base/json.ts';
import type { PublishedEvent } from '../../ledger/decisions/service-decisions.ts';
import { firstSession, serviceTurn } from '../../ledger/port/service-sessions.ts';
import type { Send } from '../../ledger/port.ts';

/** Kind of the services that hand events on. */
export const topicKind = 'topic';

/** Events are ordered and handed on by the first name of their type: 'mail' of 'mail.received'. */
export function topicOf(type: string): string {
  return type.split('.')[0] ?? type;
}

/** The key and the data of the item that carries an event. */
export function publicationItem(event: PublishedEvent): {
  readonly key: string;
  readonly data: JsonObject;
} {
  return { key: `publish:${event.id}`, data: { command: 'publish', event: event as JsonObject } };
}

/** The send of an event that an append of a ledger causes. */
export function publicationSend(event: PublishedEvent): Send {
  const name = topicOf(event.type);
  return {
    to: firstSession(topicKind, name),
    open: true,
    turn: serviceTurn(topicKind, name),
    item: {
      ...publicationItem(event),
      ...{ lane: 'input', by: 'runtime', at: event.at, type: 'service' },
    },
  };
}
