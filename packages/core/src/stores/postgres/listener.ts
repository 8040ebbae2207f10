import { type Clock, systemClock } from '../../base/clock.ts';
import { NotificationConnection, type NotificationSource } from './notification-connection.ts';

export interface ListenerSettings extends NotificationSource {
  /** Records that this store listens, for a number of milliseconds. */
  readonly register: (ms: number) => Promise<void>;
}

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
  /** Followers read by themselves while it is lost, and meet the failure of the database then. */
  readonly #connection: NotificationConnection;
  #listening = false;
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
    this.#connection = new NotificationConnection(settings, {
      onListening: async () => {
        await settings.register(registeredMs);
        // Events that were written before the connection listened.
        onHint(undefined);
      },
      onPayload: (payload) => onHint(namesOf(payload)),
    });
  }

  listen(listening: boolean): void {
    if (this.#listening === listening) return;
    this.#listening = listening;
    this.#connection.listen(listening);
    if (listening) this.#scheduleLook();
    else this.#cancelLook?.();
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    this.listen(false);
    await this.#connection.close();
  }

  #scheduleLook(): void {
    this.#cancelLook = this.#clock.setTimer(lookMs, () => {
      this.#onHint(undefined);
      // Until it is recorded, followers still read from time to time.
      this.#settings.register(registeredMs).catch(() => undefined);
      if (this.#listening) this.#scheduleLook();
    });
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
