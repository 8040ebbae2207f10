import { SessionNotFoundError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type { ReadRange, StoredEvent } from '../../ledger/port.ts';
import { decodeEvent, isCurrent, orUnreadable } from '../../ledger/upcast.ts';
import type { MemoryLedger } from './ledger.ts';

/** Reader of the events of sessions. */
export class MemoryReading {
  readonly #find: (session: string) => MemoryLedger;
  readonly #app: string;
  readonly #checkOpen: () => void;

  /**
   * @param app name of the app, for messages
   * @param find returns the ledger of a session, or throws that there is none
   * @param checkOpen throws when the store was closed
   */
  constructor(app: string, find: (session: string) => MemoryLedger, checkOpen: () => void) {
    this.#app = app;
    this.#find = find;
    this.#checkOpen = checkOpen;
  }

  async *read(
    session: string,
    range: ReadRange = {},
  ): AsyncGenerator<readonly Event[], void, undefined> {
    yield* this.#read(this.#find(session), range);
  }

  async *readStored(
    session: string,
    range: ReadRange = {},
  ): AsyncGenerator<readonly StoredEvent[], void, undefined> {
    for (const page of this.#pages(this.#find(session), range)) {
      yield page.map((event) =>
        orUnreadable(
          event.seq,
          () => event,
          () => decodeEvent(event, session),
        ),
      );
    }
  }

  /** A reader that stays with the ledger that it has found first. */
  ofOneLedger(
    session: string,
  ): (after: number) => AsyncGenerator<readonly Event[], void, undefined> {
    let followed: MemoryLedger | undefined;
    const read = async function* (
      this: MemoryReading,
      after: number,
    ): AsyncGenerator<readonly Event[], void, undefined> {
      followed ??= this.#find(session);
      yield* this.#read(followed, { after });
    };
    return read.bind(this);
  }

  *#read(ledger: MemoryLedger, range: ReadRange): Generator<readonly Event[], void, undefined> {
    for (const page of this.#pages(ledger, range)) {
      yield page.every(isCurrent) ? page : page.map((event) => decodeEvent(event, ledger.session));
    }
  }

  /** Yields the pages of one ledger, and never of another that has got its id meanwhile. */
  *#pages(ledger: MemoryLedger, range: ReadRange): Generator<readonly Event[], void, undefined> {
    for (const page of ledger.pages(range.after ?? 0, range.upTo ?? Number.POSITIVE_INFINITY)) {
      this.#checkAlive(ledger);
      yield page;
    }
    this.#checkAlive(ledger);
  }

  #checkAlive(ledger: MemoryLedger): void {
    this.#checkOpen();
    // The one that has its name now, if any, is another.
    if (ledger.isDeleted)
      throw new SessionNotFoundError({ session: ledger.session, app: this.#app });
  }
}
