import { type Clock, systemClock } from '../../base/clock.ts';
import { quoteName } from './database.ts';
import type { PostgresClient } from './pool.ts';

/** A connection that stays with its user, and the function that closes it. */
export interface ListeningConnection {
  readonly client: PostgresClient;
  readonly close: () => Promise<void> | void;
}

export interface NotificationSource {
  readonly channel: string;
  readonly connect: () => Promise<ListeningConnection>;
}

/** Takes what a connection brings. */
export interface NotificationReceiver {
  /** Called whenever a connection listens; one that fails is made anew. */
  readonly onListening: () => Promise<void>;
  readonly onPayload: (payload: string | undefined) => void;
  /** Called when a connection was lost, or none could be made. */
  readonly onLost?: (error: unknown) => void;
}

const firstDelayMs = 50;
const longestDelayMs = 5_000;

/** A connection that listens to one channel of notifications, and is made again when it is lost. */
export class NotificationConnection {
  readonly #source: NotificationSource;
  readonly #receiver: NotificationReceiver;
  readonly #clock: Clock = systemClock;
  #listening = false;
  #connection: ListeningConnection | undefined;
  #opening: Promise<void> | undefined;
  #delayMs = firstDelayMs;
  #cancelRetry: (() => void) | undefined;

  constructor(source: NotificationSource, receiver: NotificationReceiver) {
    this.#source = source;
    this.#receiver = receiver;
  }

  listen(listening: boolean): void {
    if (this.#listening === listening) return;
    this.#listening = listening;
    if (listening) {
      this.#open();
      return;
    }
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    void this.#drop();
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.listen(false);
    await this.#opening;
    await this.#drop();
  }

  #open(): void {
    this.#opening ??= this.#start().finally(() => {
      this.#opening = undefined;
      // A follower came while the last connection was being closed.
      if (this.#listening && this.#connection === undefined && this.#cancelRetry === undefined)
        this.#open();
    });
  }

  async #start(): Promise<void> {
    try {
      const connection = await this.#source.connect();
      const { client } = connection;
      this.#connection = connection;
      const lost = (error?: Error): void => this.#lose(connection, error);
      client.on('error', lost);
      client.on('end', lost);
      client.on('notification', (message) => this.#receiver.onPayload(message.payload));
      await client.query(`listen ${quoteName(this.#source.channel)}`);
      await this.#receiver.onListening();
      this.#delayMs = firstDelayMs;
    } catch (error) {
      if (this.#connection !== undefined) await this.#drop();
      this.#retry(error);
    }
    if (!this.#listening) await this.#drop();
  }

  #lose(connection: ListeningConnection, error: unknown): void {
    if (this.#connection !== connection) return;
    void this.#drop();
    this.#retry(error);
  }

  #retry(error: unknown): void {
    if (!this.#listening) return;
    this.#receiver.onLost?.(error);
    this.#cancelRetry?.();
    this.#cancelRetry = this.#clock.setTimer(this.#delayMs, () => {
      this.#cancelRetry = undefined;
      if (this.#listening) this.#open();
    });
    this.#delayMs = Math.min(this.#delayMs * 2, longestDelayMs);
  }

  async #drop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    try {
      await connection?.close();
    } catch {
      // The connection is being closed: its failures do not matter.
    }
  }
}
