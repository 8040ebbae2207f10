import { checkOptions } from '../base/invalid-option.ts';
import { isFunction } from '../base/options.ts';
import type { EventBus } from './event-bus.ts';
import type { BusOptions } from './subscriptions.ts';
import { type BusReceiver, TransportBus } from './transport-bus.ts';

/**
 * A bus within one process. It loses nothing: all callbacks have been called when `publish`
 * resolves, unless one of them has published the event.
 * @throws InvalidOptionError
 */
export function inProcessBus(options: BusOptions = {}): EventBus {
  checkOptions('inProcessBus', options, { onError: isFunction });
  let receiver: BusReceiver | undefined;
  const transport = {
    send: async (text: string) => receiver?.receive(text),
    listen: async (given: BusReceiver) => {
      receiver = given;
    },
    close: async () => undefined,
  };
  return new TransportBus(transport, options);
}
