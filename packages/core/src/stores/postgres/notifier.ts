import type { Database } from './database.ts';

/** PostgreSQL takes less than 8000 bytes for a notification. */
const longestPayload = 7_000;
/** The payload that says that any ledger may have changed. */
const everything = '';

/**
 * Notifies other processes that ledgers have grown, afterwards and without delaying a writer. At
 * most one message is on its way.
 */
export class Notifier {
  readonly #database: Database;
  readonly #channel: string;
  #changed = new Set<string>();
  #anything = false;
  #sending = false;

  constructor(database: Database, channel: string) {
    this.#database = database;
    this.#channel = channel;
  }

  /** @param ledger a short name */
  changed(ledger: string): void {
    this.#changed.add(ledger);
    if (!this.#sending) void this.#send();
  }

  /** Notifies that any ledger may have changed. */
  anythingChanged(): void {
    this.#anything = true;
    if (!this.#sending) void this.#send();
  }

  async #send(): Promise<void> {
    this.#sending = true;
    while (this.#changed.size > 0 || this.#anything) {
      const names = JSON.stringify([...this.#changed]);
      const payload = this.#anything || names.length > longestPayload ? everything : names;
      this.#changed = new Set();
      this.#anything = false;
      // Followers read from time to time and make up for a lost notification, so its commit need
      // not be synced.
      const text = "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
      await this.#database.query(text, [this.#channel, payload]).catch(() => undefined);
    }
    this.#sending = false;
  }
}
