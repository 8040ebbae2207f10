import type { Clock } from '../base/clock.ts';
import type { LedgerStore } from './port.ts';

/**
 * A receipt that says so much less than what is taken for the time is believed: clocks that count
 * differ by a little, and a store may be exchanged.
 */
const believedFallMs = 1_000;
/**
 * After so long without a receipt the store is asked before an instant that it has made is held
 * against the time.
 */
const freshForMs = 60_000;
const withReceipt: ReadonlySet<string | symbol> = new Set([
  'append',
  'claim',
  'renew',
  'release',
  'post',
]);

/**
 * The store's clock, in a process: what the last receipt said, and the time that has passed since.
 * Instants that are stored are made and judged by it, so that processes whose clocks differ agree
 * about them. Before the first receipt it is the clock of the process.
 */
export class StoreClock implements Clock {
  readonly base: Clock;
  #heard: { readonly now: number; readonly at: number } | undefined;

  constructor(base: Clock) {
    this.base = base;
  }

  now(): number {
    return this.#heard === undefined
      ? this.base.now()
      : Math.floor(this.#heard.now + this.base.monotonic() - this.#heard.at);
  }

  monotonic(): number {
    return this.base.monotonic();
  }

  setTimer(ms: number, task: () => void): () => void {
    return this.base.setTimer(ms, task);
  }

  /** Takes what a receipt says. One that came late says less than is known. */
  heed(now: unknown): void {
    // A store that was written for an older port says nothing.
    if (typeof now !== 'number' || !Number.isFinite(now)) return;
    const isLate =
      this.#heard !== undefined && now < this.now() && now > this.now() - believedFallMs;
    if (isLate) return;
    this.#heard = { now, at: this.base.monotonic() };
  }

  /** Ledgers whose receipts are heeded. */
  heeding(ledgers: LedgerStore): LedgerStore {
    return new Proxy(ledgers, {
      get: (target, name) => {
        const method = Reflect.get(target, name, target) as unknown;
        if (typeof method !== 'function') return method;
        if (!withReceipt.has(name)) return method.bind(target) as unknown;
        return (...asked: readonly unknown[]) => {
          const answer = Reflect.apply(method, target, asked) as Promise<{
            readonly now?: unknown;
          }>;
          // Before whoever waits for it goes on.
          answer.then(
            (receipt) => this.heed(receipt.now),
            () => undefined,
          );
          return answer;
        };
      },
    });
  }

  /**
   * Asks the store for the time when no receipt has told it, or none for long. @param freshFor how
   * old the last one may be
   */
  async sync(ledgers: LedgerStore, freshFor: number = freshForMs): Promise<void> {
    if (this.#heard !== undefined && this.base.monotonic() - this.#heard.at <= freshFor) return;
    if (typeof (ledgers as Partial<LedgerStore>).now !== 'function') return;
    this.heed(await ledgers.now());
  }
}

/** As `sync` of a `StoreClock`; any other clock is that of a test, which moves everything. */
export async function syncClock(
  clock: Clock,
  ledgers: LedgerStore,
  freshFor?: number,
): Promise<void> {
  if (clock instanceof StoreClock) await clock.sync(ledgers, freshFor);
}
