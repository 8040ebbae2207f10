import type { Database } from './database.ts';

/** PostgreSQL takes less than 8000 bytes for a notification. */
const longestPayload = 7_000;
/** What a listener takes for a hint that anything may have changed. */
const everything = '';

/**
 * Tells other processes that ledgers have grown, after the fact and without making anybody wait. At
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

  /** To be called when it cannot be said which ledgers have changed. */
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
      // A notification that is lost with the server is made up for by those who follow; so its
      // commit need not be synced.
      const text = "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
      await this.#database.query(text, [this.#channel, payload]).catch(() => undefined);
    }
    this.#sending = false;
  }
}
