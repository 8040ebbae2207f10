import { type Clock, systemClock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { OpenedRedis } from '../../redis/connection.ts';
import { BusClosedError, BusUnavailableError } from '../errors.ts';
import type { BusReceiver, BusTransport } from '../transport-bus.ts';
import { reasonOf, warnUnreachable } from '../warnings.ts';
import {
  beginning,
  hasEntry,
  isBehind,
  lastIdOf,
  type RedisBusClient,
  readBehind,
} from './stream-client.ts';

export interface RedisTransportSettings {
  readonly open: () => Promise<OpenedRedis<RedisBusClient>>;
  /** Key of the stream. */
  readonly key: string;
  readonly maxEvents: number;
}

/** Events of one read. */
const mostAtOnce = 500;
/** Milliseconds that a read waits for events. */
const blockMs = 5_000;
const firstDelayMs = 50;
const longestDelayMs = 2_000;

/** Events as entries of a stream that keeps the last ones only. */
export class RedisTransport implements BusTransport {
  readonly #settings: RedisTransportSettings;
  readonly #clock: Clock = systemClock;
  readonly #heeded = new WeakSet<RedisBusClient>();
  #opening: Promise<OpenedRedis<RedisBusClient>> | undefined;
  #reader: RedisBusClient | undefined;
  #isClosed = false;
  #isWarned = false;
  #wake: (() => void) | undefined;

  constructor(settings: RedisTransportSettings) {
    this.#settings = settings;
  }

  async send(text: string): Promise<void> {
    const { key, maxEvents } = this.#settings;
    const TRIM = { strategy: 'MAXLEN', strategyModifier: '~', threshold: maxEvents };
    try {
      const { client } = await this.#writer();
      await client.xAdd(key, '*', { event: text }, { TRIM });
    } catch (error) {
      throw unavailable(error);
    }
  }

  async listen(receiver: BusReceiver): Promise<void> {
    try {
      const { client } = await this.#writer();
      const reader = client.duplicate();
      this.#heed(reader);
      this.#reader = reader;
      await connected(reader);
      if (this.#isClosed) throw new BusClosedError();
      const lastId = await lastIdOf(reader, this.#settings.key);
      void this.#read(reader, lastId, receiver);
    } catch (error) {
      if (this.#reader?.isOpen === true) this.#reader.destroy();
      throw unavailable(error);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake?.();
    if (this.#reader?.isOpen === true) this.#reader.destroy();
    const opened = await this.#opening?.catch(() => undefined);
    if (opened?.isOwn === true && opened.client.isOpen) opened.client.destroy();
  }

  /** Reads until the bus is closed. The connection is made again by itself. */
  async #read(reader: RedisBusClient, start: string, receiver: BusReceiver): Promise<void> {
    const { key } = this.#settings;
    let place = { key, id: start };
    let mayHaveGap = false;
    let delayMs = firstDelayMs;
    while (!this.#isClosed) {
      try {
        if (mayHaveGap) place = { key, id: await this.#afterGap(reader, place.id, receiver) };
        const entries = await readBehind(reader, place, mostAtOnce, blockMs);
        [delayMs, this.#isWarned] = [firstDelayMs, false];
        for (const { id, message } of entries) {
          place = { key, id };
          receiver.receive(message['event'] ?? '');
        }
        // Behind a full read the stream may have been cut before the next one.
        mayHaveGap = entries.length === mostAtOnce;
      } catch {
        mayHaveGap = true;
        await this.#pause(delayMs);
        delayMs = Math.min(delayMs * 2, longestDelayMs);
      }
    }
  }

  /** Returns the place at which reading goes on, and says when entries are gone. */
  async #afterGap(reader: RedisBusClient, id: string, receiver: BusReceiver): Promise<string> {
    const { key } = this.#settings;
    if (id !== beginning && (await hasEntry(reader, key, id))) return id;
    const lastId = await lastIdOf(reader, key);
    receiver.missed();
    // A server that has lost its data may give out ids from before.
    return isBehind(id, lastId) ? beginning : id;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.setTimer(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
      if (this.#isClosed) this.#wake();
    });
  }

  #writer(): Promise<OpenedRedis<RedisBusClient>> {
    if (this.#isClosed) return Promise.reject(new BusClosedError());
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<OpenedRedis<RedisBusClient>> {
    const opened = await this.#settings.open();
    const { client, isOwn } = opened;
    this.#heed(client);
    if (isOwn && !client.isOpen) await connected(client);
    if (!this.#isClosed) return opened;
    if (isOwn && client.isOpen) client.destroy();
    throw new BusClosedError();
  }

  /** Without a listener the first failure of a client would end the process. */
  #heed(client: RedisBusClient): void {
    if (this.#heeded.has(client)) return;
    this.#heeded.add(client);
    client.on('error', (error) => {
      if (this.#isWarned || this.#isClosed) return;
      this.#isWarned = true;
      warnUnreachable(error);
    });
  }
}

/** Connects once. A client alone would try without end, and its callers wait. */
async function connected(client: RedisBusClient): Promise<void> {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  client.on('error', reject);
  try {
    await Promise.race([client.connect(), failed]);
  } catch (error) {
    if (client.isOpen) client.destroy();
    throw error;
  }
}

function unavailable(error: unknown): Error {
  if (isAdjutantError(error)) return error;
  return new BusUnavailableError({ reason: reasonOf(error) }, { cause: error });
}
