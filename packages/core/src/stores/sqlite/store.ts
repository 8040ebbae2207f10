import type { Clock } from '../../base/clock.ts';
import { StoreUnavailableError } from '../../ledger/errors.ts';
import type { LedgerStore, Store, StoreAdmin } from '../../ledger/port.ts';
import { AddressKeys, newAddressKey } from '../address-key.ts';
import { checkBlobAge, checkLimit } from '../batch.ts';
import { type ContentAccess, openContent, type StoreWithContent } from '../content-access.ts';
import { Followers } from '../followers.ts';
import type { WorkerConnection } from './connection.ts';
import { SqliteLedgerStore } from './ledger-store.ts';
import type { ScopeAddress } from './protocol.ts';
import { sweepBlobs } from './purge.ts';
import { rowFields, settledFields } from './row-fields.ts';

/** Milliseconds between two checks for appends of other processes while a reader follows. */
const pollMs = 50;

/** The store on the main thread: encodes, decodes and wakes followers; the worker does the rest. */
export class SqliteStore implements Store, StoreWithContent {
  readonly description: string;
  readonly kind = 'sqlite';
  readonly admin: StoreAdmin;
  readonly #connection: WorkerConnection;
  readonly #clock: Clock;
  readonly #followers: Followers;
  readonly #addressKeys: AddressKeys;
  #cancelPoll: (() => void) | undefined;
  #dataVersion: number | undefined;
  #following = false;

  constructor(path: string, connection: WorkerConnection, clock: Clock) {
    this.description = path;
    this.#connection = connection;
    this.#clock = clock;
    this.#followers = new Followers((count) => this.#watch(count > 0));
    this.#addressKeys = new AddressKeys((scope) => addressKey(connection, scope));
    this.admin = {
      pressure: connection.pressure,
      due: async ({ limit, app } = {}) =>
        connection.request('due', {
          scope: { app },
          now: clock.now(),
          limit: checkLimit('sessions', limit),
        }),
      take: async (options) =>
        connection.request('take', { options: { ...options }, now: clock.now() }),
      sends: async ({ app, from, olderThanMs = 0, limit }) =>
        connection.request('sends', {
          scope: { app },
          from,
          olderThanMs,
          now: clock.now(),
          limit: checkLimit('sends', limit),
        }),
      replaceRows: async ({ tenant, app, session }, expected, { listed, requests, ...rows }) => {
        const { seq, epoch, inboxSeq } = expected;
        return connection.request('replaceRows', {
          ...{ tenant, app, session, summary: rows.summary, turn: rows.turn },
          expected: { seq, epoch, inboxSeq },
          requests: requests?.map(settledFields),
          listed: listed && { kinds: listed.kinds, rows: listed.rows.map(rowFields) },
          now: clock.now(),
        });
      },
      sweepBlobs: async ({ olderThanMs } = {}) => {
        const age = checkBlobAge(olderThanMs);
        return sweepBlobs(
          connection,
          (await connection.request('now', { now: clock.now() })) - age,
        );
      },
    };
  }

  for(scope: ScopeAddress): LedgerStore {
    const parts = {
      connection: this.#connection,
      clock: this.#clock,
      followers: this.#followers,
      addressKeys: this.#addressKeys,
    };
    return new SqliteLedgerStore({ tenant: scope.tenant, app: scope.app }, parts);
  }

  async [openContent](): Promise<ContentAccess> {
    const { SqliteContent } = await import('./content.ts');
    return new SqliteContent(this.#connection.settings, () =>
      this.#connection.request('close', null),
    );
  }

  async close(): Promise<void> {
    this.#watch(false);
    this.#followers.fail(
      new StoreUnavailableError({
        store: this.description,
        reason: 'it has been closed',
        permanent: true,
      }),
    );
    await this.#connection.close();
  }

  #watch(following: boolean): void {
    if (this.#following === following) return;
    this.#following = following;
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
    this.#dataVersion = undefined;
    if (following) this.#schedulePoll();
  }

  #schedulePoll(): void {
    this.#cancelPoll = this.#clock.setTimer(pollMs, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    try {
      const version = await this.#connection.request('dataVersion', null);
      // The first reply says nothing about earlier changes.
      if (version !== this.#dataVersion) this.#followers.wakeAll();
      this.#dataVersion = version;
    } catch {
      // Followers read again and meet the failure themselves.
      this.#followers.wakeAll();
    }
    if (this.#following) this.#schedulePoll();
  }
}

async function addressKey(
  connection: WorkerConnection,
  { tenant, app }: ScopeAddress,
): Promise<Uint8Array> {
  const found = await connection.request('addressKey', { tenant, app });
  return found ?? connection.request('keepAddressKey', { tenant, app, key: newAddressKey() });
}
