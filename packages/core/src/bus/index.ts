export { BusClosedError, BusUnavailableError, InvalidBusEventError } from './errors.ts';
export type {
  BusCallback,
  BusEvent,
  EventBus,
  SubscribeOptions,
  Unsubscribe,
} from './event-bus.ts';
export { inProcessBus } from './in-process.ts';
export type { BusOptions } from './subscriptions.ts';
