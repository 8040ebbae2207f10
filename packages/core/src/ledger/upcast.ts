import { defined } from '../base/defined.ts';
import { isAdjutantError } from '../base/error.ts';
import { deepFreeze, type JsonValue } from '../base/json.ts';
import { type Event, eventVersions } from './event.ts';
import type { StoredEvent, UnreadableEvent } from './port.ts';
import { createUpcaster, type EventDecoder, type UpcastTable } from './upcast/upcaster.ts';

/**
 * Upcasts of older versions of each event type. An entry is added, and never removed, when the
 * version of a type is raised.
 */
const upcasts: UpcastTable = {
  // Version 2 has the kind of write for each change of a body. A change without it is a plain
  // value.
  state_change: { 1: (event) => event },
};

/**
 * Decodes a stored event into the present version of its type, deeply frozen.
 * @throws LedgerUnreadableError for an unknown type, a newer version, or data that is no event
 */
export const decodeEvent: EventDecoder = createUpcaster(eventVersions, upcasts);

/** Checks that an event is of a known type, in the version that this build writes. */
export function isCurrent({ type, v }: Event): boolean {
  return Object.hasOwn(eventVersions, type) && eventVersions[type] === v;
}

/**
 * Returns the result of `decode`. An event that it cannot read becomes a marker with the stored
 * data.
 */
export function orUnreadable(seq: number, stored: () => unknown, decode: () => Event): StoredEvent {
  try {
    return decode();
  } catch (error) {
    if (!isAdjutantError(error, 'ledger_unreadable')) throw error;
    return unreadableEvent(seq, String(error.data['reason']), stored());
  }
}

/** @param stored stored data; `undefined` when there is none */
export function unreadableEvent(seq: number, reason: string, stored: unknown): UnreadableEvent {
  return deepFreeze({
    type: 'unreadable',
    seq,
    reason,
    ...defined({ stored: stored as JsonValue | undefined }),
  }) as UnreadableEvent;
}
