import { type Clock, systemClock } from '../../base/clock.ts';

/**
 * Makes a clock that moves on by one millisecond each time it is read. So each append has a time of
 * its own, and a run can be repeated with the same times. Timers are real.
 *
 * @param startMs epoch milliseconds at which the clock starts
 * @default 2026-01-01T00:00:00Z
 */
export function tickingClock(startMs: number = Date.UTC(2026, 0, 1)): Clock {
  let now = startMs;
  return {
    now: () => ++now,
    monotonic: () => systemClock.monotonic(),
    setTimer: (ms, task) => systemClock.setTimer(ms, task),
  };
}
