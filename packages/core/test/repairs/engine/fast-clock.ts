import type { Clock } from 'adjutant/ports';

/**
 * The system's time, but that it passes a hundred times as fast: what waits for seconds waits for
 * hundredths.
 */
export function fastClock(factor = 100): Clock {
  const startedAt = Date.now();
  const start = performance.now();
  const elapsed = (): number => (performance.now() - start) * factor;
  return {
    now: () => Math.floor(startedAt + elapsed()),
    monotonic: elapsed,
    setTimer: (ms, task) => {
      const timer = setTimeout(task, Math.min(ms / factor, 2_147_483_647));
      return () => clearTimeout(timer);
    },
  };
}
