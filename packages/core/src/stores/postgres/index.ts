import { defined } from '../../base/defined.ts';
import {
  findInvalidOption,
  isCountOrNone,
  isFlag,
  isNonEmptyText,
  isObject,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import { StoreUnavailableError } from '../../ledger/errors.ts';
import type { Store } from '../../ledger/port.ts';
import { InvalidStoreError } from '../invalid-store.ts';
import {
  connectClient,
  defaultConnections,
  lazyPool,
  type OwnPool,
  type PostgresOwnClient,
  type PostgresPool,
} from './pool.ts';
import { openPostgres } from './store.ts';

export type {
  PostgresClient,
  PostgresOwnClient,
  PostgresPool,
  PostgresPoolClient,
  PostgresResult,
} from './pool.ts';

/** Options of a store that has a pool of its own. */
export interface PostgresOwnPoolOptions extends Omit<PostgresOptions, 'pool'> {
  /**
   * Connections that the store opens at most; one of them is lent for following, unless there is
   * `listen`. The budget of a server is this number times the processes that use it.
   * @default 10
   */
  readonly connections?: number;
}

export interface PostgresOptions {
  /**
   * The pool of connections, such as `new pg.Pool(…)` of the package `pg`. The store does not end
   * it.
   */
  readonly pool: PostgresPool;
  /** The schema that holds the tables; made on first use. @default 'adjutant' */
  readonly schema?: string;
  /**
   * True when a pooler between the pool and the server (PgBouncer, Supavisor, RDS Proxy) lends
   * connections for single transactions. Only following does not work through it; for that, give
   * `listen`.
   * @default false
   */
  readonly transactionPooling?: boolean;
  /**
   * A direct connection to the server for following: its connection string, or a function that
   * returns a connected client.
   * @default one of the pool's connections, while a reader follows
   */
  readonly listen?: { readonly connectionString: string } | (() => Promise<PostgresOwnClient>);
}

const leastConnections = 2;

const isPool: OptionCheck = (value) => {
  const fits = isObject(value) === undefined && hasMethods(value as object, ['query', 'connect']);
  return fits
    ? undefined
    : 'a pool with the methods `query` and `connect`, such as `new pg.Pool(…)`';
};

const isSchemaName: OptionCheck = (value) => {
  const fits =
    typeof value === 'string' && /^(?!pg_)[^\0$]+$/.test(value) && Buffer.byteLength(value) <= 63;
  return fits ? undefined : 'a name of 1 to 63 bytes, without `$`, that does not begin with `pg_`';
};

const isListen: OptionCheck = (value) => {
  if (typeof value === 'function') return undefined;
  const invalid = findInvalidOption(value, { connectionString: isNonEmptyText });
  return invalid === undefined &&
    isNonEmptyText((value as { connectionString?: unknown }).connectionString) === undefined
    ? undefined
    : 'a function that gives a connected client, or `{ connectionString }`';
};

const poolOptions: OptionChecks<PostgresOptions> = {
  pool: isPool,
  schema: isSchemaName,
  transactionPooling: isFlag,
  listen: isListen,
};
const { pool: _, ...otherOptions } = poolOptions;
const ownPoolOptions: OptionChecks<PostgresOwnPoolOptions> = {
  ...otherOptions,
  // One is lent to those who follow.
  connections: (value) =>
    isCountOrNone(value) === undefined && Number(value) >= leastConnections
      ? undefined
      : `a whole number from ${leastConnections}`,
};

function hasMethods(value: object, names: readonly string[]): boolean {
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}

/**
 * A store in a PostgreSQL database (version 13 or later), which any number of processes may share.
 * Its tables are made on first use and brought up to date by newer versions. Failures then are a
 * `StoreUnavailableError` or `StoreTooNewError` of the method that was called. With a connection
 * string, the store has a pool of its own and ends it when it is closed; that needs the package
 * `pg`.
 * @throws InvalidStoreError
 * @example
 * ```ts
 * import { runtime } from 'adjutant';
 * import { postgres } from 'adjutant/postgres';
 *
 * const store = postgres('postgres://user@db.example/shop', { schema: 'adjutant' });
 * const app = runtime({ app: 'shop', store, recover: 'manual' });
 * await app.close(); // nothing is asked of the database before the first use
 * ```
 */
export function postgres(options: PostgresOptions): Store;
export function postgres(connectionString: string, options?: PostgresOwnPoolOptions): Store;
export function postgres(first: string | PostgresOptions, second?: PostgresOwnPoolOptions): Store {
  if (typeof first === 'string') return fromConnectionString(first, second ?? {});
  const invalid = findInvalidOption(first, poolOptions);
  if (invalid !== undefined)
    throw new InvalidStoreError({ store: 'postgres', reason: invalid.reason });
  if (first.pool === undefined) {
    throw new InvalidStoreError({
      store: 'postgres',
      reason:
        `\`pool\` must be ${isPool(undefined)}; or give a connection string instead of ` +
        'options',
    });
  }
  if (second !== undefined)
    throw new InvalidStoreError({
      store: 'postgres',
      reason: 'with a pool, all options go into the one object',
    });
  return open(first.pool, first);
}

function fromConnectionString(connectionString: string, options: PostgresOwnPoolOptions): Store {
  if (!/^postgres(ql)?:\/\/./.test(connectionString)) {
    throw new InvalidStoreError({
      store: 'postgres',
      reason: "the connection string must look like 'postgres://user@host:5432/database'",
    });
  }
  const invalid = findInvalidOption(options, ownPoolOptions);
  if (invalid !== undefined)
    throw new InvalidStoreError({ store: 'postgres', reason: invalid.reason });
  const { connections = defaultConnections } = options;
  return open(lazyPool(connectionString, connections), options, connectionString);
}

function open(
  pool: PostgresPool | OwnPool,
  options: Omit<PostgresOptions, 'pool'>,
  connectionString?: string,
): Store {
  const { schema = 'adjutant', transactionPooling = false, listen } = options;
  const description = `PostgreSQL schema "${schema}"`;
  const connect =
    typeof listen === 'object' ? () => connectClient(listen.connectionString) : listen;
  const cannotFollow = transactionPooling && connect === undefined;
  return openPostgres({
    ...{ pool, schema, description },
    ...defined({ connect }),
    ...(connectionString === undefined ? {} : { endPool: () => (pool as OwnPool).end() }),
    ...(cannotFollow
      ? {
          cannotFollow: new StoreUnavailableError({
            store: description,
            reason:
              'following needs a direct connection, and its pool was declared with ' +
              '`transactionPooling`: give the option `listen`, as { connectionString } of ' +
              'the server itself or as a function that gives a connected client',
            permanent: true,
          }),
        }
      : {}),
  });
}
