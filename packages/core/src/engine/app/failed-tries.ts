import type { Clock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';

/** Pause in milliseconds after a session could not be continued, at first and at most. */
const firstPauseMs = 10_000;
const longestPauseMs = 600_000;
/**
 * Pause in milliseconds before another process takes a session that this one cannot continue.
 * Without it such a session would be the first that all processes take, each time.
 */
const lackingPauseMs = 1_000;

/** Codes of failures by what this process lacks, and not by the session. */
const lacking: ReadonlySet<string> = new Set([
  'unknown_runnable',
  'ledger_mismatch',
  'runnable_mismatch',
  'key_unavailable',
]);

/** Codes that say that another process was quicker. */
const overtaken = ['session_busy', 'ledger_conflict', 'run_stopped', 'session_not_found'];

interface FailedTry {
  readonly times: number;
  readonly until: number;
  /** True when another process may be able to go on with the session now. */
  readonly isOfThisProcess: boolean;
}

/** Sessions that could not be continued: each is left alone for ever longer pauses. */
export class FailedTries {
  readonly #clock: Clock;
  readonly #tries = new Map<string, FailedTry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  mayTry(key: string): boolean {
    return (this.#tries.get(key)?.until ?? 0) <= this.#clock.now();
  }

  forget(key: string): boolean {
    return this.#tries.delete(key);
  }

  /** Instant before which nobody takes the session again. */
  pausedUntil(key: string): number {
    const now = this.#clock.now();
    const failed = this.#tries.get(key);
    const until = failed?.isOfThisProcess === true ? now + lackingPauseMs : failed?.until;
    return Math.max(now, until ?? now);
  }

  /** Notes a failure. Returns true when it is the session's first, which is worth a warning. */
  note(key: string, error: unknown): boolean {
    if (overtaken.some((code) => isAdjutantError(error, code))) return false;
    if (isAdjutantError(error, 'no_open_run')) {
      // No run can use the rest of its inbox. The session stays due, and must not be examined
      // without a pause.
      const until = this.#clock.now() + firstPauseMs;
      this.#tries.set(key, { times: 1, until, isOfThisProcess: false });
      return false;
    }
    const times = (this.#tries.get(key)?.times ?? 0) + 1;
    const pause = Math.min(firstPauseMs * 2 ** (times - 1), longestPauseMs);
    const isOfThisProcess = isAdjutantError(error) && lacking.has(error.code);
    this.#tries.set(key, { times, until: this.#clock.now() + pause, isOfThisProcess });
    return times === 1;
  }
}
