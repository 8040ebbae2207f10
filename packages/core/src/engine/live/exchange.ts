import type { Clock } from '../../base/clock.ts';
import { contentHash } from '../../base/hash.ts';
import type { Host } from '../../base/host.ts';
import { asJson, type JsonValue } from '../../base/json.ts';
import { type LiveMessage, readLiveMessage } from './live-message.ts';
import type { PubSub } from './pub-sub.ts';

/** Milliseconds between two requests of a follower, and the time for which one request holds. */
const askEveryMs = 10_000;
const askedForMs = 30_000;
/** Milliseconds before a failed subscription is made again. */
const retryMs = 2_000;

type Listener = (message: LiveMessage) => void;

/**
 * Exchange of text that models are writing, between the processes of an app. Messages may be lost:
 * each part has its place in its text.
 */
export class Exchange {
  /** Name of this process. */
  readonly name: string;
  readonly #pubsub: PubSub;
  readonly #host: Host;
  /** Called when another process wants all live text of a session again. */
  readonly #onAsked = new Map<string, () => void>();
  #asks: Subscription | undefined;

  constructor(pubsub: PubSub, host: Host) {
    this.#pubsub = pubsub;
    this.#host = host;
    this.name = host.ids.next();
  }

  /** Clock of the machine. */
  get clock(): Clock {
    return this.#host.clock;
  }

  /**
   * Follows the live text of other processes in a session. `ask` requests missing parts; `end` ends
   * it.
   */
  follow(key: string, listener: Listener): { readonly ask: () => void; readonly end: () => void } {
    const ask = (): void => void this.#publish(asksChannel, { from: this.name, key });
    let cancelTimer: () => void = () => undefined;
    const again = (): void => {
      ask();
      cancelTimer = this.#host.setBackgroundTimer(askEveryMs, again);
    };
    const hear = (message: JsonValue): void => {
      const read = readLiveMessage(message);
      if (read !== undefined) listener(read);
    };
    const subscription = this.#subscription(channelOf(key), hear, again);
    return {
      ask,
      end: () => {
        cancelTimer();
        subscription.end();
      },
    };
  }

  /** Calls `onAsked` when a process asks for a session, until the returned function is called. */
  answer(key: string, onAsked: () => void): () => void {
    this.#asks ??= this.#subscription(asksChannel, (message) => {
      const { from, key: asked } = message as { from?: JsonValue; key?: JsonValue };
      if (from !== this.name && typeof asked === 'string') this.#onAsked.get(asked)?.();
    });
    this.#onAsked.set(key, onAsked);
    return () => this.#onAsked.delete(key);
  }

  /**
   * Calls `listener` when another process has released sessions of an app, until the returned
   * function is called.
   */
  onReleased(app: string, listener: () => void): () => void {
    const subscription = this.#subscription(releaseChannelOf(app), (message) => {
      if ((message as { from?: JsonValue }).from !== this.name) listener();
    });
    return () => subscription.end();
  }

  announceRelease(app: string): void {
    void this.#publish(releaseChannelOf(app), { from: this.name });
  }

  /** Resolves when the message was sent, or could not be sent. */
  send(key: string, message: Omit<LiveMessage, 'from'>): Promise<void> {
    return this.#publish(channelOf(key), asJson({ from: this.name, ...message }));
  }

  #subscription(
    channel: string,
    listener: (message: JsonValue) => void,
    onReady?: () => void,
  ): Subscription {
    return new Subscription({ host: this.#host, pubsub: this.#pubsub }, channel, listener, onReady);
  }

  async #publish(channel: string, message: JsonValue): Promise<void> {
    try {
      await this.#pubsub.publish(channel, JSON.stringify(message));
    } catch {
      // Streamed text may be lost; durable events come all the same.
    }
  }
}

const asksChannel = 'adjutant:live:asks';

function channelOf(key: string): string {
  return `adjutant:live:${key}`;
}

function releaseChannelOf(app: string): string {
  return `adjutant:given-back:${contentHash([app])}`;
}

/** Name of a session in channels, which reveals nothing of it. */
export function liveKey(
  scope: { readonly tenant: string; readonly app: string },
  session: string,
): string {
  return contentHash([scope.tenant, scope.app, session]);
}

/** Demand for live text: true for some time after a request. */
export class Demand {
  readonly #clock: Clock;
  #until = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  asked(): void {
    this.#until = this.#clock.monotonic() + askedForMs;
  }

  get isThere(): boolean {
    return this.#clock.monotonic() < this.#until;
  }
}

/** A subscription that is made again when it fails. */
class Subscription {
  #isEnded = false;
  #end: (() => Promise<void>) | undefined;
  #cancelTimer: () => void = () => undefined;

  constructor(
    { host, pubsub }: { readonly host: Host; readonly pubsub: PubSub },
    channel: string,
    listener: (message: JsonValue) => void,
    onReady: () => void = () => undefined,
  ) {
    const hear = (text: string): void => {
      const message = this.#isEnded ? undefined : parsed(text);
      if (message !== undefined) listener(message);
    };
    const subscribe = (): void => {
      // A `subscribe` that throws instead of rejecting has failed, too.
      const made = async (): Promise<() => Promise<void>> => pubsub.subscribe(channel, hear);
      made().then(
        (end) => {
          this.#end = end;
          if (this.#isEnded) this.end();
          else onReady();
        },
        () => {
          if (!this.#isEnded) this.#cancelTimer = host.setBackgroundTimer(retryMs, subscribe);
        },
      );
    };
    subscribe();
  }

  end(): void {
    this.#isEnded = true;
    this.#cancelTimer();
    void this.#end?.().catch(() => undefined);
    this.#end = undefined;
  }
}

/** Reads a message, which any process may have sent. */
function parsed(text: string): JsonValue | undefined {
  try {
    const message = JSON.parse(text) as JsonValue;
    return typeof message === 'object' && message !== null && !Array.isArray(message)
      ? message
      : undefined;
  } catch {
    return undefined;
  }
}
