import { type ClientPorts, pause } from './ports.ts';

/** Number and delays of a client's retries when the server cannot be reached or is overloaded. */
export interface ReconnectOptions {
  /**
   * Milliseconds without the server after which it is given up; `0`: at once; `Infinity`: never.
   * @default 60_000
   */
  readonly giveUpAfterMs?: number;
  /**
   * Milliseconds before the first attempt after a failure; each further one waits about twice as
   * long. @default 250
   */
  readonly initialDelayMs?: number;
  /** Milliseconds that it waits at most between two attempts. @default 10_000 */
  readonly maxDelayMs?: number;
  /**
   * Milliseconds without a byte after which a connection counts as lost; a server's heartbeat must
   * be more frequent. @default 45_000
   */
  readonly silenceMs?: number;
}

export type ResolvedRetry = Required<ReconnectOptions>;

export const defaultRetry: ResolvedRetry = Object.freeze({
  giveUpAfterMs: 60_000,
  initialDelayMs: 250,
  maxDelayMs: 10_000,
  silenceMs: 45_000,
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
    this.#first = options.initialDelayMs;
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
    this.#first = Math.min(first, this.#options.maxDelayMs);
  }

  /**
   * Waits before the next attempt. Resolves to `false`, at once, when the time for that is over.
   * @param atLeast milliseconds that the server asked for
   */
  async wait(signal: AbortSignal | undefined, atLeast = 0): Promise<boolean> {
    const { clock, random } = this.#ports;
    const { giveUpAfterMs, maxDelayMs: longest } = this.#options;
    this.#since ??= clock.monotonic();
    const most = Math.min(longest, this.#first * 2 ** this.#attempts++);
    const ms = Math.max(atLeast, most * (0.5 + random.next() / 2));
    const left = giveUpAfterMs - this.triedFor;
    if (left <= 0 || atLeast > left) return false;
    // The last attempt is made when the time is over, and not a long wait before.
    await pause(clock, Math.min(ms, left), signal);
    return true;
  }
}
