import { mapInTurns } from '../../base/turns.ts';
import { LedgerUnreadableError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type { ReadRange, SessionListing, StoredEvent } from '../../ledger/port.ts';
import { SegmentKeyMissingError } from './errors.ts';
import { EventSeals } from './event-seals.ts';
import type { SessionKeys } from './keys/session-keys.ts';
import { type LedgerParts, sessionNotFound } from './ledger-parts.ts';
import { SessionSeals } from './seals.ts';
import { SessionReader } from './session-reader.ts';

/** Reads the ledgers of one tenant and app, and checks that none has lost its end. */
export class LedgerReading {
  readonly #parts: LedgerParts;
  readonly #events: EventSeals;
  readonly #seals: SessionSeals;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.#events = new EventSeals(parts.scope);
    this.#seals = new SessionSeals(parts.scope);
  }

  async *read(
    session: string,
    range?: ReadRange,
  ): AsyncGenerator<readonly Event[], void, undefined> {
    const reader = new SessionReader(this.#parts.ring, session);
    const end = range?.upTo === undefined ? await this.#sealedEnd(session) : 0;
    let last = range?.after ?? 0;
    for await (const page of this.#parts.inner.read(session, range)) {
      last = page.at(-1)?.seq ?? last;
      yield await this.opened(reader, (keys) =>
        mapInTurns(page, (event) => this.#events.open(keys, session, event)),
      );
    }
    if (last < end) await this.assertWhole(session, last);
  }

  async *readStored(
    session: string,
    range?: ReadRange,
  ): AsyncGenerator<readonly StoredEvent[], void, undefined> {
    // An event that does not open is marked and not tried again, so the keys must be current.
    const reader = new SessionReader(
      this.#parts.ring,
      session,
      await this.#parts.ring.findAnew(session),
    );
    const end = range?.upTo === undefined ? await this.#sealedEnd(session) : 0;
    let last = range?.after ?? 0;
    for await (const page of this.#parts.inner.readStored(session, range)) {
      last = page.at(-1)?.seq ?? last;
      yield await this.opened(reader, (keys) =>
        mapInTurns(page, (event) => this.#events.openStored(keys, session, event)),
      );
    }
    if (last < end && last < (await this.#sealedEnd(session)))
      yield [{ type: 'unreadable', seq: last + 1, reason: cutOff }];
  }

  /** Returns the last event that the ledger had when its entry in the list was sealed last. */
  async #sealedEnd(session: string): Promise<number> {
    const [listing] = await this.#parts.inner.list({ id: session, limit: 1 });
    if (listing === undefined || isEmpty(listing)) return 0;
    const entry = await new SessionReader(this.#parts.ring, session).open((keys) =>
      this.#seals.openEntry(keys, listing),
    );
    return entry?.seq ?? 0;
  }

  /**
   * Checks that the ledger has its end.
   * @param last number of the last event that was found
   * @throws LedgerUnreadableError when there were more events
   */
  async assertWhole(session: string, last: number): Promise<void> {
    if ((await this.#sealedEnd(session)) > last)
      throw new LedgerUnreadableError({ session, seq: last + 1, reason: cutOff });
  }

  async *follow(
    session: string,
    afterSeq: number,
    signal: AbortSignal,
  ): AsyncGenerator<Event, void, undefined> {
    const reader = new SessionReader(this.#parts.ring, session);
    for await (const event of this.#parts.inner.follow(session, afterSeq, signal)) {
      yield await this.opened(reader, (keys) => this.#events.open(keys, session, event));
    }
  }

  /**
   * Opens content of a session that must have keys.
   * @throws SegmentKeyMissingError, SessionNotFoundError
   */
  async opened<Content>(
    reader: SessionReader,
    work: (keys: SessionKeys) => Content | Promise<Content>,
  ): Promise<Content> {
    const opened = await reader.open(work);
    if (opened !== undefined) return opened;
    const { session } = reader;
    if ((await this.#parts.inner.head(session)) === undefined)
      throw sessionNotFound(this.#parts, session);
    throw new SegmentKeyMissingError({ session, app: this.#parts.scope.app });
  }
}

const cutOff =
  'the end of the ledger is missing: there were more events when its entry in the list was written';

/** True when a session has no events and no summary yet, so that nothing of it is sealed. */
export function isEmpty({ title, user, runnable, seq }: SessionListing): boolean {
  return seq === 0 && title === undefined && user === undefined && runnable === undefined;
}
