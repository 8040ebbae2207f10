import { defined } from '../../base/defined.ts';
import { isPlainObject, type JsonValue } from '../../base/json.ts';
import { LedgerUnreadableError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type { StoredEvent } from '../../ledger/port.ts';
import { isSealed, type SealedEvent } from '../../ledger/sealed-event.ts';
import { decodeEvent, orUnreadable } from '../../ledger/upcast.ts';
import { sealText, unsealText } from './cipher.ts';
import type { Segment, SessionKeys } from './keys/session-keys.ts';
import { placeOf, type SealScope } from './seals.ts';

/**
 * Seals and opens events. The envelope stays readable; it is part of the place, so that it cannot
 * be changed either.
 */
export class EventSeals {
  readonly #scope: SealScope;

  constructor(scope: SealScope) {
    this.#scope = scope;
  }

  /** Seals an event with the key of the session's own segment. */
  seal({ own }: SessionKeys, session: string, event: Event): Event {
    if (own.sealKey === undefined) throw unreadable(session, event.seq, lostKey);
    const { v, seq, id, at, type, invocationId, by, ...content } = event;
    const path = defined({ invocationId });
    const envelope = { v, seq, id, at, type, ...path, by };
    return {
      ...envelope,
      sealed: sealText(own.sealKey, this.#place(own, envelope), JSON.stringify(content)),
    } as unknown as Event;
  }

  /**
   * Returns the event as it was written, in the present version of its type.
   * @throws LedgerUnreadableError
   */
  open(keys: SessionKeys, session: string, stored: Event): Event {
    return decodeEvent(this.#contents(keys, session, stored), session);
  }

  /** Opens an event as `open` does, but returns a mark when it cannot be read. */
  openStored(keys: SessionKeys, session: string, stored: StoredEvent): StoredEvent {
    if (stored.type !== 'unreadable') {
      return orUnreadable(
        stored.seq,
        () => stored,
        () => this.open(keys, session, stored),
      );
    }
    // An event of a later version is returned as it was written, if it can be opened.
    const found = stored.stored as unknown;
    if (!isPlainObject(found) || found['seq'] !== stored.seq) return stored;
    try {
      return {
        ...stored,
        stored: this.#contents(keys, session, found as unknown as Event) as unknown as JsonValue,
      };
    } catch {
      return stored;
    }
  }

  #contents(keys: SessionKeys, session: string, stored: Event): object {
    if (!isSealed(stored))
      throw unreadable(
        session,
        stored.seq,
        'it is not encrypted, as every event of this store must be',
      );
    const segment = keys.at(stored.seq);
    if (segment.sealKey === undefined) throw unreadable(session, stored.seq, lostKey);
    const { sealed, ...envelope } = stored;
    const text = unsealText(segment.sealKey, this.#place(segment, envelope), sealed);
    if (text === undefined)
      throw unreadable(session, stored.seq, 'it was changed, or moved here from another place');
    return { ...envelope, ...(JSON.parse(text) as object) };
  }

  #place(
    { id: segment }: Segment,
    { seq, type, v, id, at, invocationId, by }: Omit<SealedEvent, 'sealed'>,
  ): string {
    return placeOf(this.#scope, 'event', segment, seq, type, v, id, at, invocationId, by);
  }
}

const lostKey =
  'its key was lost when the session that was forked was deleted before the fork was done';

function unreadable(session: string, seq: number, reason: string): LedgerUnreadableError {
  return new LedgerUnreadableError({ session, seq, reason });
}
