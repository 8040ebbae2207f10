import { visibleLine } from '../base/text/visible-text.ts';
import type { PubSub } from '../engine/live/pub-sub.ts';
import { PubSubClosedError } from './errors.ts';

type Listener = (message: string) => void;

/** A client of the package `redis`. */
export interface RedisClient {
  readonly isOpen: boolean;
  /** True while commands reach the server. */
  readonly isReady?: boolean;
  connect(): Promise<unknown>;
  publish(channel: string, message: string): Promise<unknown>;
  subscribe(channel: string, listener: Listener): Promise<unknown>;
  unsubscribe(channel: string, listener: Listener): Promise<unknown>;
  duplicate(): RedisClient;
  on(event: 'error', listener: (error: Error) => void): unknown;
  destroy(): void;
}

interface Connections {
  readonly publisher: RedisClient;
  readonly subscriber: RedisClient;
  readonly isOwn: boolean;
}

/**
 * Redis has connections that send and others that listen: one of each, made with the first message.
 */
export class RedisPubSub implements PubSub {
  readonly #prefix: string;
  readonly #open: () => Promise<{ readonly client: RedisClient; readonly isOwn: boolean }>;
  #connections: Promise<Connections> | undefined;
  #made: Connections | undefined;
  #isFailing = false;
  /** Clients whose failures are listened to; the caller's is tried again and again. */
  readonly #heeded = new WeakSet<RedisClient>();
  #isClosed = false;
  #isWarned = false;

  constructor(
    prefix: string,
    open: () => Promise<{ readonly client: RedisClient; readonly isOwn: boolean }>,
  ) {
    this.#prefix = prefix;
    this.#open = open;
  }

  get isConnected(): boolean {
    if (this.#isClosed) return false;
    if (this.#made === undefined) return !this.#isFailing;
    const { publisher, subscriber } = this.#made;
    return publisher.isReady !== false && subscriber.isReady !== false;
  }

  async publish(channel: string, message: string): Promise<void> {
    const { publisher } = await this.#connected();
    await publisher.publish(this.#prefix + channel, message);
  }

  async subscribe(channel: string, listener: Listener): Promise<() => Promise<void>> {
    const { subscriber } = await this.#connected();
    const name = this.#prefix + channel;
    // One function twice would be one subscription.
    const hear = (message: string): void => listener(message);
    await subscriber.subscribe(name, hear);
    return async () => {
      if (!this.#isClosed) await subscriber.unsubscribe(name, hear);
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const connections = await this.#connections?.catch(() => undefined);
    if (connections === undefined) return;
    const { publisher, subscriber, isOwn } = connections;
    for (const client of isOwn ? [publisher, subscriber] : [subscriber])
      if (client.isOpen) client.destroy();
  }

  #connected(): Promise<Connections> {
    if (this.#isClosed) return Promise.reject(new PubSubClosedError());
    this.#connections ??= this.#connect().catch((error: unknown) => {
      this.#connections = undefined;
      this.#isFailing = true;
      throw error;
    });
    return this.#connections;
  }

  async #connect(): Promise<Connections> {
    const { client, isOwn } = await this.#open();
    const subscriber = client.duplicate();
    const made = { publisher: client, subscriber, isOwn };
    // Connections are made again by themselves; without a listener the first failure would end the
    // process. So would one of the caller's client.
    for (const each of [client, subscriber]) this.#heedErrors(each);
    for (const each of isOwn ? [client, subscriber] : [subscriber]) {
      if (each.isOpen) continue;
      await each.connect();
      if (this.#isClosed) break;
    }
    if (this.#isClosed) {
      for (const each of isOwn ? [client, subscriber] : [subscriber])
        if (each.isOpen) each.destroy();
      throw new PubSubClosedError();
    }
    this.#isWarned = false;
    this.#made = made;
    return made;
  }

  #heedErrors(client: RedisClient): void {
    if (this.#heeded.has(client)) return;
    this.#heeded.add(client);
    client.on('error', (error) => this.#warn(error));
  }

  #warn(error: Error): void {
    this.#isFailing = true;
    if (this.#isWarned || this.#isClosed) return;
    this.#isWarned = true;
    const reason = error.message === '' ? error.name : error.message;
    process.emitWarning(
      'Redis cannot be reached: other processes do not see parts of answers now. ' +
        `${visibleLine(reason)}`,
      {
        type: 'AdjutantWarning',
        code: 'pub_sub_unreachable',
      },
    );
  }
}
