import { type ClientPorts, pause } from './ports.ts';

/** Number and delays of a client's retries when the server cannot be reached or is overloaded. */
export interface RetryOptions {
  /**
   * Milliseconds without the server after which it is given up; `0`: at once; `Infinity`: never.
   * @default 60_000
   */
  readonly giveUpAfter?: number;
  /**
   * Milliseconds before the first attempt after a failure; each further one waits about twice as
   * long. @default 250
   */
  readonly first?: number;
  /** Milliseconds that it waits at most between two attempts. @default 10_000 */
  readonly longest?: number;
  /**
   * Milliseconds without a byte after which a connection counts as lost; a server's heartbeat must
   * be more frequent. @default 45_000
   */
  readonly silence?: number;
}

export type ResolvedRetry = Required<RetryOptions>;

export const defaultRetry: ResolvedRetry = Object.freeze({
  giveUpAfter: 60_000,
  first: 250,
  longest: 10_000,
  silence: 45_000,
});

/**
 * The waits between attempts: each about twice as long as the one before, none exactly, so that
 * clients do not come back all at once.
 */
export class BackOff {
  readonly #ports: ClientPorts;
  readonly #options: ResolvedRetry;
  #first: number;
  #attempts = 0;
  #since: number | undefined;

  constructor(ports: ClientPorts, options: ResolvedRetry) {
    this.#ports = ports;
    this.#options = options;
    this.#first = options.first;
  }

  /** Milliseconds since the first failure. */
  get triedFor(): number {
    return this.#since === undefined ? 0 : this.#ports.clock.monotonic() - this.#since;
  }

  /** The server was there: the time until it is given up begins anew. */
  reached(): void {
    this.#since = undefined;
  }

  /** It also did what was asked: the waits are short again. */
  succeeded(): void {
    this.reached();
    this.#attempts = 0;
  }

  /** Replaces `first` by the delay that the server asks for. */
  prefer(first: number): void {
    this.#first = Math.min(first, this.#options.longest);
  }

  /**
   * Waits before the next attempt. Resolves to `false`, at once, when the time for that is over.
   * @param atLeast milliseconds that the server asked for
   */
  async wait(signal: AbortSignal | undefined, atLeast = 0): Promise<boolean> {
    const { clock, random } = this.#ports;
    const { giveUpAfter, longest } = this.#options;
    this.#since ??= clock.monotonic();
    const most = Math.min(longest, this.#first * 2 ** this.#attempts++);
    const ms = Math.max(atLeast, most * (0.5 + random.next() / 2));
    const left = giveUpAfter - this.triedFor;
    if (left <= 0 || atLeast > left) return false;
    // The last attempt is made when the time is over, and not a long wait before.
    await pause(clock, Math.min(ms, left), signal);
    return true;
  }
}
