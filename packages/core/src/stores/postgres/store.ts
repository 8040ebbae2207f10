import { type Clock, systemClock } from '../../base/clock.ts';
import { systemIds } from '../../base/id.ts';

import type { StoreUnavailableError } from '../../ledger/errors.ts';
import type { Store, StoreAdmin, StorePressure } from '../../ledger/port.ts';

import { AddressKeys } from '../address-key.ts';
import { checkBlobAge, checkLimit } from '../batch.ts';
import { openContent, type StoreWithContent } from '../content-access.ts';
import { findAddressKey } from './address-key.ts';
import { PostgresContent } from './content.ts';
import { Database } from './database.ts';
import { Following } from './following.ts';
import { PostgresLedgerStore, type StoreParts } from './ledger-store.ts';
import { type Borrower, lentConnection, ownConnection } from './listening-connections.ts';
import { Notifier } from './notifier.ts';
import { partitionEvents } from './partition.ts';
import type { PostgresOwnClient, PostgresPool } from './pool.ts';
import { queryDue } from './queries.ts';
import { replaceRows } from './replacement.ts';
import { toStorable } from './storable-text.ts';
import { querySends, takeTurns } from './turns/queries.ts';
import { storedWhole } from './whole.ts';
import { WriteGroups } from './write-groups.ts';

export interface PostgresSettings {
  /** The name of the store in messages. */
  readonly description: string;
  readonly pool: PostgresPool;
  readonly schema: string;
  /** Connects a client for listening. @default one of the pool's is taken */
  readonly connect?: () => Promise<PostgresOwnClient>;
  /** The reason when following is impossible. */
  readonly cannotFollow?: StoreUnavailableError;
  /** Ends a pool that is the store's own. */
  readonly endPool?: () => Promise<void>;
  /** Epoch milliseconds that replace the clock of the database; for tests. */
  readonly fixedNow?: () => number;
  /** Spaces notifications. @default the system's; another for tests */
  readonly clock?: Clock;
}

export function openPostgres(settings: PostgresSettings): Store & StoreWithContent {
  const { description, pool, schema, connect, fixedNow = () => null } = settings;
  const { clock = systemClock } = settings;
  const database = new Database(description, pool, schema);
  const ownName = systemIds.next();
  const writes = new WriteGroups(database, fixedNow, ownName);
  const settingsOfListener = {
    channel: schema,
    connect:
      connect === undefined
        ? () => lentConnection(pool, borrowerOf(description))
        : () => ownConnection(connect),
    register: async (ms: number) =>
      void (await database.call('select {s}.listen($1, $2::bigint)', [ownName, ms])),
  };
  const following = new Following(
    settingsOfListener,
    new Notifier(database, schema, clock),
    settings.cannotFollow,
  );
  const addressKeys = new AddressKeys((scope) => findAddressKey(database, scope));
  const parts: StoreParts = { database, writes, following, fixedNow, addressKeys };
  // Without a listener the loss of an idle connection would end the process. The next statement
  // gets another one.
  const ignore = (): void => undefined;
  pool.on?.('error', ignore);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const written = writes.close();
    await following.close(database.closedError, written);
    await database.close();
    pool.removeListener?.('error', ignore);
    await settings.endPool?.();
  };
  return {
    description,
    kind: 'postgres',
    for: (scope) => new PostgresLedgerStore(scope, parts),
    [openContent]: () => PostgresContent.open(description, schema, pool),
    admin: {
      ...adminOf(database, fixedNow, writes),
      partition: async (partitions) => {
        // The tables must be there, and as this version has them.
        await database.query('select 1', []);
        return partitionEvents({ description, pool, schema }, partitions);
      },
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function adminOf(
  database: Database,
  fixedNow: () => number | null,
  writes: WriteGroups,
): StoreAdmin {
  return {
    pressure: pressureOf(database, writes),
    due: async ({ limit, app } = {}) =>
      queryDue(
        database,
        app === undefined ? {} : { app: toStorable(app) },
        checkLimit('sessions', limit),
        fixedNow(),
      ),
    take: async (options) => takeTurns(database, options, fixedNow()),
    sends: async ({ app, ...filter }) => {
      const limit = checkLimit('sends', filter.limit);
      return querySends(database, { app: toStorable(app) }, filter, limit, fixedNow());
    },
    replaceRows: replaceRows(writes, database.description),
    sweepBlobs: async ({ olderThanMs } = {}) =>
      sweepBlobs(database, checkBlobAge(olderThanMs), fixedNow()),
  };
}

function pressureOf({ pressure }: Database, writes: WriteGroups): StorePressure {
  return {
    get waiting() {
      return pressure.waiting + writes.waiting;
    },
    get isFull() {
      return pressure.isFull;
    },
    hasRoom: () => pressure.hasRoom(),
  };
}

function borrowerOf(name: string): Borrower {
  return {
    name,
    otherwise: 'the store the option `listen`',
    meanwhile: 'Until then whoever follows looks once a second.',
  };
}

const mostBlobsPerSweep = 1_000;

async function sweepBlobs(
  database: Database,
  olderThanMs: number,
  fixedNow: number | null,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = Number(
      await database.call('select {s}.sweep_blobs($1::bigint, $2::bigint)::text', [
        storedWhole(olderThanMs),
        fixedNow,
      ]),
    );
    removed += count;
    if (count < mostBlobsPerSweep) return removed;
  }
}
