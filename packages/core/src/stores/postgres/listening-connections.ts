import { StoreUnavailableError } from '../../ledger/errors.ts';
import type { ListeningConnection } from './notification-connection.ts';
import type { PostgresOwnClient, PostgresPool } from './pool.ts';

/**
 * Number of connections of each pool that stores listen on. Each store that is followed keeps one.
 */
const listening = new WeakMap<PostgresPool, number>();
const warned = new WeakSet<PostgresPool>();

/** The part of a program that borrows a connection. */
export interface Borrower {
  readonly name: string;
  /** Another remedy than a larger pool. */
  readonly otherwise: string;
  /** The sentence that tells the consequence, for a warning. */
  readonly meanwhile: string;
}

/**
 * Borrows a connection for listening, but never the last one: every statement would wait for ever.
 * @throws StoreUnavailableError
 */
export async function lentConnection(
  pool: PostgresPool,
  { name, otherwise, meanwhile }: Borrower,
): Promise<ListeningConnection> {
  const taken = (listening.get(pool) ?? 0) + 1;
  const most = pool.options?.max;
  if (typeof most === 'number' && taken >= most) {
    const reason =
      `its pool has ${most === 1 ? 'a single connection' : `${most} connections`}, and ` +
      'each store that is followed and each bus keeps one for listening: ' +
      `give the pool at least ${taken + 1} (\`max\`), or ${otherwise}`;
    if (!warned.has(pool))
      process.emitWarning(`${name}: ${reason}. ${meanwhile}`, 'AdjutantWarning');
    warned.add(pool);
    throw new StoreUnavailableError({ store: name, reason });
  }
  listening.set(pool, taken);
  const free = (): void => void listening.set(pool, (listening.get(pool) ?? 1) - 1);
  try {
    const client = await pool.connect();
    // The connection listens, so it is closed and not lent again.
    const close = (): void => {
      free();
      client.release(true);
    };
    return { client, close };
  } catch (error) {
    free();
    throw error;
  }
}

/** Connects a client for listening alone. */
export async function ownConnection(
  connect: () => Promise<PostgresOwnClient>,
): Promise<ListeningConnection> {
  const client = await connect();
  return { client, close: () => client.end() };
}
