export { InvalidBusEventError } from '../base/bus/event-error.ts';
export { BusClosedError, BusUnavailableError } from './errors.ts';
export type {
  BusCallback,
  BusEvent,
  EventBus,
  SubscribeOptions,
  Unsubscribe,
} from './event-bus.ts';
export { inProcessBus } from './in-process.ts';
export { type PostgresBusOptions, postgresBus } from './postgres/postgres-bus.ts';
export { type RedisBusOptions, redisBus } from './redis/redis-bus.ts';
export type { RedisBusClient } from './redis/stream-client.ts';
export type { BusOptions } from './subscriptions.ts';
