import type { JsonValue } from '../base/json.ts';

/** Something that has happened, as a bus carries it: at most 65,536 bytes of JSON. */
export type BusEvent = {
  /** Id of the event, so that a receiver of several hints knows them as one. */
  readonly id: string;
  /** Part of the system that it comes from, such as 'imap' or 'scheduler'. */
  readonly source: string;
  /** Names with full stops between them, from the general to the special: 'mail.received'. */
  readonly type: string;
  readonly data: JsonValue;
  /** Epoch milliseconds at which it happened. */
  readonly at: number;
};

/**
 * Function that gets events, one after the other in the order of each publisher. Events are frozen.
 * A returned promise is not waited for.
 */
export type BusCallback = (event: BusEvent) => unknown;

export interface SubscribeOptions {
  /**
   * Called when events may have been lost, for example because the connection was. A subscriber
   * that must not miss anything looks for itself then.
   * @default nothing
   */
  readonly onMissed?: () => void;
}

/** Ends a subscription. Nothing comes any more; further calls do nothing. */
export type Unsubscribe = () => Promise<void>;

/**
 * Port that carries events to those who listen at the moment. Each subscription gets an event at
 * most once. Events may be lost, and `onMissed` says when.
 */
export interface EventBus {
  /**
   * Resolves when the event was handed over.
   * @throws InvalidBusEventError, BusClosedError; BusUnavailableError when it was not, or may not
   * have been
   */
  publish(event: BusEvent): Promise<void>;
  /**
   * Resolves when events arrive, with the function that ends the subscription.
   * @param pattern a type, in which `*` stands for one name and `**` for any number of them
   * @throws InvalidOptionError, BusClosedError; BusUnavailableError
   */
  subscribe(
    pattern: string,
    callback: BusCallback,
    options?: SubscribeOptions,
  ): Promise<Unsubscribe>;
  /** Ends all subscriptions, and the connections that it made itself. */
  close(): Promise<void>;
}
