import type { Clock } from '../base/clock.ts';
import type { LedgerStore } from './port.ts';

/**
 * A receipt that is so many milliseconds older than its call is believed. Clock rates differ by a
 * little only, so a larger step back means another store.
 */
const believedFallMs = 1_000;
/**
 * Milliseconds after the last receipt for which the time counts as fresh. Later, the store is asked
 * before a stored instant is compared with the time.
 */
const freshForMs = 60_000;
const methodsWithReceipt: ReadonlySet<string | symbol> = new Set([
  'append',
  'claim',
  'renew',
  'release',
  'post',
]);

/**
 * The clock of the store inside a process: the time of the last receipt, and the time that has
 * passed since. Stored instants are made and compared with it, so that processes with different
 * clocks agree about them. Before the first receipt it is the clock of the process.
 */
export class StoreClock implements Clock {
  readonly base: Clock;
  #last: { readonly now: number; readonly at: number } | undefined;

  constructor(base: Clock) {
    this.base = base;
  }

  now(): number {
    return this.#last === undefined
      ? this.base.now()
      : Math.floor(this.#last.now + this.base.monotonic() - this.#last.at);
  }

  monotonic(): number {
    return this.base.monotonic();
  }

  setTimer(ms: number, task: () => void): () => void {
    return this.base.setTimer(ms, task);
  }

  /**
   * Takes the time of a receipt. One that came late is ignored, however long it was on its way: the
   * process may have stood still meanwhile.
   * @param askedAt monotonic time of the call
   */
  observe(now: unknown, askedAt: number): void {
    // A store for an older port gives no time.
    if (typeof now !== 'number' || !Number.isFinite(now)) return;
    const at = this.base.monotonic();
    const known = this.now();
    const isLate =
      this.#last !== undefined && now < known && now > known - (at - askedAt) - believedFallMs;
    if (isLate) return;
    this.#last = { now, at };
  }

  /** Wraps a store, so that its receipts set this clock. */
  heeding(ledgers: LedgerStore): LedgerStore {
    return new Proxy(ledgers, {
      get: (target, name) => {
        const method = Reflect.get(target, name, target) as unknown;
        if (typeof method !== 'function') return method;
        if (!methodsWithReceipt.has(name)) return method.bind(target) as unknown;
        return (...asked: readonly unknown[]) => {
          const askedAt = this.base.monotonic();
          const answer = Reflect.apply(method, target, asked) as Promise<{
            readonly now?: unknown;
          }>;
          // Runs before the caller goes on.
          answer.then(
            (receipt) => this.observe(receipt.now, askedAt),
            () => undefined,
          );
          return answer;
        };
      },
    });
  }

  /**
   * Asks the store for the time when no receipt has given it lately.
   * @param freshFor largest age of the last receipt, in milliseconds
   */
  async sync(ledgers: LedgerStore, freshFor: number = freshForMs): Promise<void> {
    if (this.#last !== undefined && this.base.monotonic() - this.#last.at <= freshFor) return;
    if (typeof (ledgers as Partial<LedgerStore>).now !== 'function') return;
    const askedAt = this.base.monotonic();
    this.observe(await ledgers.now(), askedAt);
  }
}

/** Runs `sync` of a `StoreClock`. Any other clock is a test clock, which sets all times. */
export async function syncClock(
  clock: Clock,
  ledgers: LedgerStore,
  freshFor?: number,
): Promise<void> {
  if (clock instanceof StoreClock) await clock.sync(ledgers, freshFor);
}
