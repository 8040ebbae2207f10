import { checkOptions, InvalidOptionError } from '../../base/invalid-option.ts';
import { isCount, isFunction, isText } from '../../base/options.ts';
import { faultOfConnection, openRedis } from '../../redis/connection.ts';
import type { EventBus } from '../event-bus.ts';
import type { BusOptions } from '../subscriptions.ts';
import { TransportBus } from '../transport-bus.ts';
import { RedisTransport } from './redis-transport.ts';
import type { RedisBusClient } from './stream-client.ts';

export interface RedisBusOptions extends BusOptions {
  /** Put before the key of the stream, so that several installations can share a Redis. */
  readonly prefix?: string;
  /**
   * Events that the stream keeps, about: those who were cut off for a moment read on from there.
   * @default 10_000
   */
  readonly maxEvents?: number;
}

/**
 * A bus between processes by a stream of Redis (`XADD`, `XREAD`). A subscriber has a connection of
 * its own. After a lost connection it goes on where it stood; `onMissed` says when the stream does
 * not go back as far, or Redis has lost it.
 * @param connection an address, for which the package `redis` is loaded, or a connected client,
 * which stays the caller's
 * @throws InvalidOptionError; MissingPackageError by the methods of the returned object
 */
export function redisBus(
  connection: string | RedisBusClient,
  options: RedisBusOptions = {},
): EventBus {
  const checks = { onError: isFunction, prefix: isText, maxEvents: isCount };
  checkOptions('redisBus', options, checks);
  const fault = faultOfConnection(connection);
  if (fault !== undefined) throw new InvalidOptionError({ function: 'redisBus', reason: fault });
  const { prefix = '', maxEvents = 10_000 } = options;
  const transport = new RedisTransport({
    open: () => openRedis(connection, 'redisBus()'),
    key: `${prefix}adjutant:events`,
    maxEvents,
  });
  return new TransportBus(transport, options);
}
