import { loadOptionalPackage } from '../../base/optional-package.ts';

/** The result of a statement. */
export interface PostgresResult {
  readonly rows: readonly unknown[];
}

/** A connection of a pool, or a client of its own, as `pg` has them. */
export interface PostgresClient {
  query(text: string): Promise<unknown>;
  on(
    event: 'notification',
    listener: (message: { readonly payload?: string | undefined }) => void,
  ): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
}

/** A connection that a pool lends. */
export interface PostgresPoolClient extends PostgresClient {
  /** @param destroy true closes the connection instead of lending it again */
  release(destroy?: boolean): void;
}

/** A connection of its own, connected already. */
export interface PostgresOwnClient extends PostgresClient {
  end(): Promise<void>;
}

/** A pool of connections to PostgreSQL, such as `new pg.Pool(…)`. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
  connect(): Promise<PostgresPoolClient>;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  removeListener?(event: 'error', listener: (error: Error) => void): unknown;
  /** The options of the pool, as pools of `pg` have them. */
  readonly options?: { readonly max?: number | undefined } | undefined;
}

/** A pool of the store's own, which it also has to end. */
export interface OwnPool extends PostgresPool {
  end(): Promise<void>;
}

/** Connections of a pool at most, where nobody says more. */
export const defaultConnections = 10;
const needed = "postgres('postgres://…')";

/** A pool that is made when it is first used. @param max connections that it opens at most */
export function lazyPool(connectionString: string, max = defaultConnections): OwnPool {
  let made: Promise<OwnPool> | undefined;
  const make = async (): Promise<OwnPool> => {
    const { Pool } = await loadPg();
    const pool = new Pool({ connectionString, max, allowExitOnIdle: true });
    // The next statement gets another connection. Without a listener the loss of an idle one would
    // end the process.
    pool.on('error', () => undefined);
    return pool;
  };
  const pool = (): Promise<OwnPool> => {
    made ??= make();
    return made;
  };
  return {
    query: async (text, values) => (await pool()).query(text, values),
    connect: async () => (await pool()).connect(),
    end: async () => {
      // A pool that could not be made has failed for its users already.
      const pool = await made?.catch(() => undefined);
      await pool?.end();
    },
  };
}

/** Connects a client of its own. */
export async function connectClient(connectionString: string): Promise<PostgresOwnClient> {
  const { Client } = await loadPg();
  const client = new Client({ connectionString });
  await client.connect();
  return client;
}

function loadPg(): Promise<typeof import('pg')> {
  return loadOptionalPackage('pg', needed, () => import('pg'));
}
