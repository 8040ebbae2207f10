import { readPattern } from '../base/bus/event-pattern.ts';
import { InvalidOptionError } from '../base/invalid-option.ts';
import { BusClosedError } from './errors.ts';
import type {
  BusCallback,
  BusEvent,
  EventBus,
  SubscribeOptions,
  Unsubscribe,
} from './event-bus.ts';
import { writeEvent } from './event-text.ts';
import { type BusOptions, Subscriptions } from './subscriptions.ts';

/** Takes what a transport brings. */
export interface BusReceiver {
  /** @param text of one event, in the order of its publisher */
  receive(text: string): void;
  /** Says that texts may have been lost. */
  missed(): void;
}

/** Carries texts between the processes of a bus. */
export interface BusTransport {
  /** Sends the text of an event. Texts keep the order of the calls. */
  send(text: string): Promise<void>;
  /** Begins to receive; resolves when texts arrive. Called once, again after it failed. */
  listen(receiver: BusReceiver): Promise<void>;
  close(): Promise<void>;
}

/** A bus over a transport: events are checked, and told to the subscriptions. */
export class TransportBus implements EventBus {
  readonly #transport: BusTransport;
  readonly #subscriptions: Subscriptions;
  #listening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(transport: BusTransport, options: BusOptions) {
    this.#transport = transport;
    this.#subscriptions = new Subscriptions(options);
  }

  async publish(event: BusEvent): Promise<void> {
    const text = writeEvent(event);
    if (this.#closing !== undefined) throw new BusClosedError();
    await this.#transport.send(text);
  }

  async subscribe(
    pattern: string,
    callback: BusCallback,
    options?: SubscribeOptions,
  ): Promise<Unsubscribe> {
    const parts = readPattern(pattern);
    checkFunctions(callback, options);
    if (this.#closing !== undefined) throw new BusClosedError();
    await this.#listen();
    if (this.#closing !== undefined) throw new BusClosedError();
    const remove = this.#subscriptions.add(parts, callback, options);
    return async () => remove();
  }

  close(): Promise<void> {
    this.#subscriptions.clear();
    this.#closing ??= this.#transport.close();
    return this.#closing;
  }

  #listen(): Promise<void> {
    const receiver: BusReceiver = {
      receive: (text) => {
        if (this.#closing === undefined) this.#subscriptions.deliver(text);
      },
      missed: () => {
        if (this.#closing === undefined) this.#subscriptions.missed();
      },
    };
    this.#listening ??= this.#transport.listen(receiver).catch((error: unknown) => {
      this.#listening = undefined;
      throw error;
    });
    return this.#listening;
  }
}

/** @throws InvalidOptionError */
function checkFunctions(callback: unknown, options: SubscribeOptions = {}): void {
  const wrong = (reason: string) => new InvalidOptionError({ function: 'subscribe', reason });
  if (typeof callback !== 'function') throw wrong('the callback must be a function');
  const unknown = Object.keys(options).find((name) => name !== 'onMissed');
  if (unknown !== undefined)
    throw wrong(`there is no option \`${unknown}\` (the option is \`onMissed\`)`);
  if (options.onMissed !== undefined && typeof options.onMissed !== 'function')
    throw wrong('`onMissed` must be a function');
}
