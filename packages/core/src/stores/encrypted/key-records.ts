import { systemClock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import { systemRandom } from '../../base/random.ts';
import type { LedgerStore, SessionListing } from '../../ledger/port.ts';
import { type KeyRecord, parseRecord } from './key-record.ts';

export interface NamedRecord {
  readonly name: string;
  readonly record: KeyRecord;
}

/**
 * Who claims a session of key records. Each claim takes it from the one before, so the name does
 * not matter.
 */
const owner = 'adjutant-encryption';
const ttl = 1_000;
const pageSize = 100;
const longestDelayMs = 64;

/**
 * The records of the wrapped keys of one tenant and app. Each is the title of a session without
 * events in a store: the one thing of a session that is replaced by an append and not added to, so
 * that a key leaves no trace when it is wrapped anew. A claim and the append after it are a
 * compare-and-set.
 */
export class KeyRecords {
  readonly #sessions: LedgerStore;

  /** @param sessions those of an app that holds nothing but records */
  constructor(sessions: LedgerStore) {
    this.#sessions = sessions;
  }

  /** @throws SealBrokenError */
  async read(name: string): Promise<KeyRecord | undefined> {
    const [listing] = await this.#sessions.list({ id: name, limit: 1 });
    return listing === undefined ? undefined : recordOf(listing);
  }

  /**
   * Puts what `next` makes of a record in its place; `undefined` leaves what was found. When
   * somebody else changes the record meanwhile, `next` is called again with what is there then.
   * @returns what is there now
   */
  async change(
    name: string,
    next: (found: KeyRecord | undefined) => Promise<KeyRecord | undefined>,
  ): Promise<KeyRecord | undefined> {
    for (let attempt = 0; ; attempt++) {
      const { seq, epoch } = await this.#sessions.claim(name, owner, { ttl, force: true });
      const found = await this.read(name);
      const made = await next(found);
      if (made === undefined) return found;
      try {
        const summary = {
          status: 'completed',
          title: JSON.stringify(made),
          user: made.line[0] as string,
        } as const;
        await this.#sessions.append(name, { seq, epoch }, { events: [], summary });
        return made;
      } catch (error) {
        // Whoever claimed it after this one goes first.
        if (!isAdjutantError(error, 'ledger_conflict')) throw error;
        // By chance, so that two do not fence each other for ever.
        const delay = systemRandom.next() * Math.min(2 ** attempt, longestDelayMs);
        await new Promise<void>((resolve) => systemClock.setTimer(delay, resolve));
      }
    }
  }

  /** Destroys a record, and so the keys that only it holds. */
  async remove(name: string): Promise<void> {
    try {
      await this.#sessions.delete(name);
    } catch (error) {
      if (!isAdjutantError(error, 'session_not_found')) throw error;
    }
  }

  /**
   * The names of the records of a session and all that descend from it, and of their relatives, but
   * for those of forks that are not there yet.
   */
  async *family(first: string): AsyncGenerator<string, void, undefined> {
    // Also what cannot be read can be destroyed.
    for await (const { id, title } of this.#list({ user: first }))
      if (title !== undefined && !isOfFutureFork(title)) yield id;
  }

  /** Those that are made meanwhile may be missing. @throws SealBrokenError */
  async *all(): AsyncGenerator<NamedRecord, void, undefined> {
    for await (const listing of this.#list({})) {
      const record = recordOf(listing);
      if (record !== undefined) yield { name: listing.id, record };
    }
  }

  async *#list(filter: {
    readonly user?: string;
  }): AsyncGenerator<SessionListing, void, undefined> {
    let before: SessionListing | undefined;
    do {
      const page = await this.#sessions.list({
        ...filter,
        order: 'createdAt',
        limit: pageSize,
        ...(before === undefined ? {} : { before }),
      });
      yield* page;
      before = page.length < pageSize ? undefined : page.at(-1);
    } while (before !== undefined);
  }
}

function isOfFutureFork(title: string): boolean {
  try {
    return parseRecord(title, '').from !== undefined;
  } catch {
    return false;
  }
}

function recordOf({ id, title }: SessionListing): KeyRecord | undefined {
  return title === undefined ? undefined : parseRecord(title, id);
}
