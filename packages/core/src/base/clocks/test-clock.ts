import type { Clock } from '../clock.ts';

/** A clock that stands still until `advance` is called. */
export interface TestClock extends Clock {
  /** Lets `ms` milliseconds pass. Timers that fall due fire in order, each at its own time. */
  advance(ms: number): void;
}

interface Timer {
  readonly due: number;
  readonly task: () => void;
}

/**
 * Makes a clock that stands still until `advance` is called.
 * @param startMs epoch milliseconds at which the clock starts
 * @default 2026-01-01T00:00:00Z
 */
export function testClock(startMs: number = Date.UTC(2026, 0, 1)): TestClock {
  let elapsed = 0;
  const timers = new Set<Timer>();
  const nextDue = (limit: number): Timer | undefined => {
    let next: Timer | undefined;
    // A set iterates in the order of insertion, so equal times fire in the order in which they were
    // set.
    for (const timer of timers)
      if (timer.due <= limit && (next === undefined || timer.due < next.due)) next = timer;
    return next;
  };
  return {
    now: () => startMs + elapsed,
    monotonic: () => elapsed,
    setTimer(ms, task) {
      const timer = { due: elapsed + Math.max(0, ms), task };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`A clock cannot be advanced by ${ms} ms.`);
      const end = elapsed + ms;
      for (let timer = nextDue(end); timer !== undefined; timer = nextDue(end)) {
        timers.delete(timer);
        elapsed = timer.due;
        timer.task();
      }
      elapsed = end;
    },
  };
}
