import { systemClock } from '../../../base/clock.ts';
import { defined } from '../../../base/defined.ts';
import { isAdjutantError } from '../../../base/error.ts';
import { systemRandom } from '../../../base/random.ts';
import type { LedgerStore, SessionListing } from '../../../ledger/port.ts';
import { type KeyRecord, parseRecord } from './key-record.ts';

export interface NamedRecord {
  readonly name: string;
  readonly record: KeyRecord;
}

/**
 * Owner of the claims of key records. Each claim fences the one before, so the name does not
 * matter.
 */
const owner = 'adjutant-encryption';
const ttl = 1_000;
const pageSize = 100;
const longestDelayMs = 64;

/**
 * The records of the wrapped keys of one tenant and app. Each is the title of a session without
 * events. An append replaces a title, so a key leaves no trace when it is wrapped again. A claim
 * and the append after it are a compare-and-set.
 */
export class KeyRecords {
  readonly #sessions: LedgerStore;

  /** @param sessions ledgers of an app that holds only records */
  constructor(sessions: LedgerStore) {
    this.#sessions = sessions;
  }

  /** @throws SealBrokenError */
  async read(name: string): Promise<KeyRecord | undefined> {
    const [listing] = await this.#sessions.list({ id: name, limit: 1 });
    return listing === undefined ? undefined : recordOf(listing);
  }

  /**
   * Replaces a record by the result of `next`; `undefined` leaves it. When another writer changes
   * the record meanwhile, `next` is called again with the new one.
   * @returns the record that is stored now
   */
  async change(
    name: string,
    next: (found: KeyRecord | undefined) => Promise<KeyRecord | undefined>,
  ): Promise<KeyRecord | undefined> {
    for (let attempt = 0; ; attempt++) {
      const { seq, epoch } = await this.#sessions.claim(name, owner, { ttlMs: ttl, force: true });
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
        // A conflict means that another writer claimed later; let it win.
        if (!isAdjutantError(error, 'ledger_conflict')) throw error;
        // A random pause, so that two writers do not fence each other for ever.
        const delay = systemRandom.next() * Math.min(2 ** attempt, longestDelayMs);
        await new Promise<void>((resolve) => systemClock.setTimer(delay, resolve));
      }
    }
  }

  /** Destroys a record, and with it the keys that only it holds. */
  async remove(name: string): Promise<void> {
    try {
      await this.#sessions.delete(name);
    } catch (error) {
      if (!isAdjutantError(error, 'session_not_found')) throw error;
    }
  }

  /**
   * Yields the names of the records of a session, its descendants and their relatives. Forks that
   * do not exist yet are left out.
   */
  async *family(first: string): AsyncGenerator<string, void, undefined> {
    // A record that cannot be read can be destroyed too.
    for await (const { id, title } of this.#list({ user: first }))
      if (title !== undefined && !isOfFutureFork(title)) yield id;
  }

  /**
   * Yields all records. Those that are made meanwhile may be missing.
   * @throws SealBrokenError
   */
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
        ...defined({ before }),
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
