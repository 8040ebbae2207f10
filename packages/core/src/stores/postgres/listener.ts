import { type Clock, systemClock } from '../../base/clock.ts';
import { quoteName } from './database.ts';
import type { PostgresClient } from './pool.ts';

/** A connection that stays with its user, and the function that closes it. */
export interface ListeningConnection {
  readonly client: PostgresClient;
  readonly close: () => Promise<void> | void;
}

export interface ListenerSettings {
  readonly channel: string;
  readonly connect: () => Promise<ListeningConnection>;
  /** Records that this store listens, for a number of milliseconds. */
  readonly register: (ms: number) => Promise<void>;
}

const firstDelayMs = 50;
const longestDelayMs = 5_000;
/**
 * Milliseconds between two reads of a follower, so that a lost notification costs no more than
 * this.
 */
const lookMs = 1_000;
const registeredMs = 5_000;

/**
 * Listens for writes of other processes while a reader follows. A notification is only a hint to
 * read.
 */
export class Listener {
  readonly #settings: ListenerSettings;
  readonly #onHint: (ledgers: readonly string[] | undefined) => void;
  readonly #clock: Clock = systemClock;
  #listening = false;
  #connection: ListeningConnection | undefined;
  #opening: Promise<void> | undefined;
  #delayMs = firstDelayMs;
  #cancelRetry: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;

  /**
   * @param onHint called with the names of ledgers that may have changed; without names when any
   * may have
   */
  constructor(
    settings: ListenerSettings,
    onHint: (ledgers: readonly string[] | undefined) => void,
  ) {
    this.#settings = settings;
    this.#onHint = onHint;
  }

  listen(listening: boolean): void {
    if (this.#listening === listening) return;
    this.#listening = listening;
    if (listening) {
      this.#open();
      this.#scheduleLook();
      return;
    }
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    this.#cancelLook?.();
    void this.#drop();
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.listen(false);
    await this.#opening;
    await this.#drop();
  }

  #scheduleLook(): void {
    this.#cancelLook = this.#clock.setTimer(lookMs, () => {
      this.#onHint(undefined);
      // Until it is recorded, followers still read from time to time.
      this.#settings.register(registeredMs).catch(() => undefined);
      if (this.#listening) this.#scheduleLook();
    });
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
      const connection = await this.#settings.connect();
      const { client } = connection;
      this.#connection = connection;
      const lost = (): void => this.#lose(connection);
      client.on('error', lost);
      client.on('end', lost);
      client.on('notification', (message) => this.#onHint(namesOf(message.payload)));
      await client.query(`listen ${quoteName(this.#settings.channel)}`);
      await this.#settings.register(registeredMs);
      this.#delayMs = firstDelayMs;
      // Events that were written before the connection listened.
      this.#onHint(undefined);
    } catch {
      // Followers read by themselves meanwhile, and meet the failure of the database then.
      if (this.#connection !== undefined) await this.#drop();
      this.#retry();
    }
    if (!this.#listening) await this.#drop();
  }

  #lose(connection: ListeningConnection): void {
    if (this.#connection !== connection) return;
    void this.#drop();
    this.#retry();
  }

  #retry(): void {
    if (!this.#listening) return;
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

/**
 * Returns the names in a notification. Everybody who may connect to the database may notify: any
 * other text is a hint that anything may have changed.
 */
function namesOf(payload: string | undefined): readonly string[] | undefined {
  try {
    const names: unknown = JSON.parse(payload ?? '');
    return Array.isArray(names) && names.every((name) => typeof name === 'string')
      ? names
      : undefined;
  } catch {
    return undefined;
  }
}
