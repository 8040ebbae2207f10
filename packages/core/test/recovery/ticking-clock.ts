import { type Clock, systemClock } from 'adjutant';

/** A clock whose every look at it is a millisecond later, so that each append has a time of its own. Timers are real. */
export function tickingClock(startMs: number = Date.UTC(2026, 0, 1)): Clock {
  let now = startMs;
  return { now: () => ++now, monotonic: () => systemClock.monotonic(), setTimer: (ms, task) => systemClock.setTimer(ms, task) };
}
