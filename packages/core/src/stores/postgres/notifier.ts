import type { Clock } from '../../base/clock.ts';
import type { Database } from './database.ts';

/** PostgreSQL takes less than 8000 bytes for a notification. */
const longestPayload = 7_000;
/** The payload that says that any ledger may have changed. */
const everything = '';
/**
 * Milliseconds between two notifications, so at most 20 a second: each takes a lock of the whole
 * database at its commit.
 */
const leastGapMs = 50;

/**
 * Notifies other processes that ledgers have grown: in a transaction of its own, after the write,
 * and without delaying a writer. The first is sent at once. What changes soon after it shares the
 * next one, so that a process sends at most 20 a second however much it writes.
 */
export class Notifier {
  readonly #database: Database;
  readonly #channel: string;
  readonly #clock: Clock;
  #changed = new Set<string>();
  #anything = false;
  #sending: Promise<void> | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #cancelWait: (() => void) | undefined;

  constructor(database: Database, channel: string, clock: Clock) {
    this.#database = database;
    this.#channel = channel;
    this.#clock = clock;
  }

  /** @param ledger a short name */
  changed(ledger: string): void {
    this.#changed.add(ledger);
    this.#schedule();
  }

  /** Notifies that any ledger may have changed. */
  anythingChanged(): void {
    this.#anything = true;
    this.#schedule();
  }

  /** Sends what waits. */
  async close(): Promise<void> {
    await this.#sending;
    this.#cancelWait?.();
    this.#cancelWait = undefined;
    if (this.#waits) await this.#send();
  }

  get #waits(): boolean {
    return this.#anything || this.#changed.size > 0;
  }

  #schedule(): void {
    if (this.#sending !== undefined || this.#cancelWait !== undefined) return;
    const left = this.#sentAt + leastGapMs - this.#clock.monotonic();
    if (left <= 0) {
      this.#begin();
      return;
    }
    this.#cancelWait = this.#clock.setTimer(left, () => {
      this.#cancelWait = undefined;
      this.#begin();
    });
  }

  #begin(): void {
    this.#sentAt = this.#clock.monotonic();
    this.#sending = this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#waits) this.#schedule();
    });
  }

  async #send(): Promise<void> {
    const names = JSON.stringify([...this.#changed]);
    const payload = this.#anything || names.length > longestPayload ? everything : names;
    this.#changed = new Set();
    this.#anything = false;
    // Followers read from time to time and make up for a lost notification, so its commit need not
    // be synced.
    const text = "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)";
    await this.#database.query(text, [this.#channel, payload]).catch(() => undefined);
  }
}
