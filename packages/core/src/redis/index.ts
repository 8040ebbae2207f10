import { findInvalidOption, isNonEmptyText, type OptionChecks } from '../base/options.ts';
import type { PubSub } from '../engine/live/pub-sub.ts';
import { faultOfConnection, openRedis } from './connection.ts';
import { InvalidPubSubError } from './errors.ts';
import { type RedisClient, RedisPubSub } from './redis-pub-sub.ts';

export { InvalidPubSubError, PubSubClosedError } from './errors.ts';
export type { RedisClient } from './redis-pub-sub.ts';

export interface RedisOptions {
  /**
   * Put before the names of all channels, so that several installations can share a Redis. @default
   * none
   */
  readonly prefix?: string;
}

const checks: OptionChecks<RedisOptions> = { prefix: isNonEmptyText };

/**
 * Carries streamed messages between the processes of an app by Redis: `runtime({ pubsub:
 * redis('redis://localhost:6379') })`. It stores nothing there. While Redis cannot be reached
 * nothing waits for it. Followers in other processes get durable events, and parts of answers again
 * once it is back.
 * @param connection an address, for which the package `redis` is loaded, or a client of it that is
 * connected; a client stays the caller's
 * @throws InvalidPubSubError; MissingPackageError by the methods of the returned object
 */
export function redis(connection: string | RedisClient, options: RedisOptions = {}): PubSub {
  const invalid = findInvalidOption(options, checks);
  if (invalid !== undefined) throw new InvalidPubSubError({ reason: invalid.reason });
  const { prefix = '' } = options;
  const fault = faultOfConnection(connection);
  if (fault !== undefined) throw new InvalidPubSubError({ reason: fault });
  return new RedisPubSub(prefix, () => openRedis(connection, 'redis()'));
}
