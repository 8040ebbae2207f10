import { hasType, type TypePattern } from '../base/bus/event-pattern.ts';
import { visibleLine } from '../base/text/visible-text.ts';
import type { BusCallback, BusEvent, SubscribeOptions } from './event-bus.ts';
import { readEvent } from './event-text.ts';
import { reasonOf } from './warnings.ts';

export interface BusOptions {
  /**
   * Gets what a callback throws. It does not end the subscription, nor others.
   * @default a warning of the process, once for each subscription
   */
  readonly onError?: (error: unknown, event: BusEvent) => void;
}

interface Subscription {
  readonly pattern: TypePattern;
  readonly callback: BusCallback;
  readonly onMissed: SubscribeOptions['onMissed'];
  hasFailed: boolean;
}

/** The subscriptions of one bus. It calls them for one event after the other. */
export class Subscriptions {
  readonly #all = new Set<Subscription>();
  readonly #onError: BusOptions['onError'];
  #waiting: BusEvent[] = [];
  #isDelivering = false;

  constructor({ onError }: BusOptions) {
    this.#onError = onError;
  }

  /** Returns the function that removes the subscription. */
  add(
    pattern: TypePattern,
    callback: BusCallback,
    { onMissed }: SubscribeOptions = {},
  ): () => void {
    const subscription = { pattern, callback, onMissed, hasFailed: false };
    this.#all.add(subscription);
    return () => void this.#all.delete(subscription);
  }

  /** Removes all, and drops what waits to be delivered. */
  clear(): void {
    this.#all.clear();
    this.#waiting = [];
  }

  /** Delivers the text of an event; any other text is left out. */
  deliver(text: string): void {
    const event = readEvent(text);
    if (event === undefined) return;
    this.#waiting.push(event);
    // A callback that publishes does not put its event in front of the present one.
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      this.#tell(next);
    this.#isDelivering = false;
  }

  /** Says to all that events may have been lost. */
  missed(): void {
    for (const { onMissed } of [...this.#all]) {
      try {
        onMissed?.();
      } catch (error) {
        warn('A callback `onMissed` of the event bus failed', error);
      }
    }
  }

  #tell(event: BusEvent): void {
    for (const subscription of [...this.#all]) {
      if (!this.#all.has(subscription) || !hasType(subscription.pattern, event.type)) continue;
      try {
        const returned = subscription.callback(event);
        if (returned instanceof Promise)
          returned.catch((error: unknown) => this.#failed(subscription, error, event));
      } catch (error) {
        this.#failed(subscription, error, event);
      }
    }
  }

  #failed(subscription: Subscription, error: unknown, event: BusEvent): void {
    const isFirst = !subscription.hasFailed;
    subscription.hasFailed = true;
    if (this.#onError === undefined) {
      if (isFirst) warn(`A subscriber of the event bus failed at "${event.type}"`, error);
      return;
    }
    try {
      this.#onError(error, event);
    } catch (thrown) {
      if (isFirst) warn('`onError` of the event bus failed', thrown);
    }
  }
}

function warn(subject: string, error: unknown): void {
  process.emitWarning(`${subject}: ${visibleLine(reasonOf(error))}`, {
    type: 'AdjutantWarning',
    code: 'bus_callback_failed',
  });
}
