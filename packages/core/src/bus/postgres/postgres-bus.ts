import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { isFunction, type OptionCheck } from '../../base/options.ts';
import {
  type Borrower,
  lentConnection,
  ownConnection,
} from '../../stores/postgres/listening-connections.ts';
import { connectClient, lazyPool, type PostgresPool } from '../../stores/postgres/pool.ts';
import type { EventBus } from '../event-bus.ts';
import type { BusOptions } from '../subscriptions.ts';
import { TransportBus } from '../transport-bus.ts';
import { PostgresTransport } from './postgres-transport.ts';

export interface PostgresBusOptions extends BusOptions {
  /**
   * Schema of the table for events of more than 7,000 bytes; made with the first of them. It also
   * names the channel of the notifications.
   * @default 'adjutant_bus'
   */
  readonly schema?: string;
}

const isSchemaName: OptionCheck = (value) =>
  typeof value === 'string' && /^(?!pg_)[^\0$]+$/.test(value) && Buffer.byteLength(value) <= 63
    ? undefined
    : 'a name of 1 to 63 bytes, without `$`, that does not begin with `pg_`';

/**
 * A bus between processes by notifications of PostgreSQL. A bus with subscribers keeps a connection
 * for listening. What is published while it is lost is lost too, and `onMissed` says so.
 * @param connection a connection string, for which the package `pg` is loaded, or a pool, which
 * stays the caller's
 * @throws InvalidOptionError; MissingPackageError by the methods of the returned object
 */
export function postgresBus(
  connection: string | PostgresPool,
  options: PostgresBusOptions = {},
): EventBus {
  const { schema = 'adjutant_bus' } = options;
  checkOptions('postgresBus', options, { onError: isFunction, schema: isSchemaName });
  const { pool, connect, endPool } = openPool(connection);
  const transport = new PostgresTransport({ pool, schema, channel: schema, connect, endPool });
  return new TransportBus(transport, options);
}

const borrower: Borrower = {
  name: 'The event bus',
  otherwise: 'the bus a connection string',
  meanwhile: 'Until then it has no subscribers.',
};

/** @throws InvalidOptionError */
function openPool(connection: string | PostgresPool) {
  if (typeof connection === 'string' && /^postgres(ql)?:\/\/./.test(connection)) {
    const pool = lazyPool(connection);
    const connect = () => ownConnection(() => connectClient(connection));
    return { pool, connect, endPool: () => pool.end() };
  }
  const pool = connection as PostgresPool;
  if (typeof pool?.query !== 'function' || typeof pool.connect !== 'function')
    throw new InvalidOptionError({
      function: 'postgresBus',
      reason:
        "its first argument must be a connection string such as 'postgres://user@host/database', " +
        'or a pool such as `new pg.Pool(…)`',
    });
  // Without a listener the loss of an idle connection would end the process.
  const ignore = (): void => undefined;
  pool.on?.('error', ignore);
  return {
    pool,
    connect: () => lentConnection(pool, borrower),
    endPool: async () => void pool.removeListener?.('error', ignore),
  };
}
