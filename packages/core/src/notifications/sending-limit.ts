import type { Clock } from '../base/clock.ts';

/** The time limit of one attempt, and the abort of its caller. */
export interface SendingLimit {
  /** Aborted by the one that comes first. */
  readonly signal: AbortSignal;
  /** True when the time was over first. */
  readonly isLate: () => boolean;
  /** Forgets timer and caller. */
  readonly end: () => void;
}

export function sendingLimit(clock: Clock, timeoutMs: number, caller: AbortSignal): SendingLimit {
  const controller = new AbortController();
  let isLate = false;
  const abort = (): void => controller.abort();
  const cancelTimer = clock.setTimer(timeoutMs, () => {
    isLate = !controller.signal.aborted;
    abort();
  });
  caller.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    isLate: () => isLate,
    end: () => {
      cancelTimer();
      caller.removeEventListener('abort', abort);
    },
  };
}
