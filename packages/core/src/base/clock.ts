/** The port through which all time enters. */
export interface Clock {
  /** Wall-clock time in epoch milliseconds. */
  now(): number;
  /** Milliseconds from an arbitrary start that never go backwards; for durations and leases. */
  monotonic(): number;
  /** Calls `task` once after `ms` milliseconds. Returns a function that cancels it. */
  setTimer(ms: number, task: () => void): () => void;
}

/** Node's timers take at most 2^31-1 ms; longer ones fire at once, so they are chained. */
const longestTimerMs = 2_147_483_647;

function setSystemTimer(ms: number, task: () => void): () => void {
  let handle: NodeJS.Timeout;
  const arm = (left: number): void => {
    handle = setTimeout(
      () => (left > longestTimerMs ? arm(left - longestTimerMs) : task()),
      Math.min(left, longestTimerMs),
    );
  };
  arm(Math.max(0, ms));
  return () => clearTimeout(handle);
}

export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: setSystemTimer,
});

/**
 * Milliseconds since the machine was started, its sleep included: the same for all its processes,
 * whatever became of the wall clock.
 */
export function machineUptime(): number {
  return process.getBuiltinModule('node:os').uptime() * 1_000;
}

/** Calls `task` when everything that is ready now has been done. */
export function afterThisTurn(task: () => void): void {
  setImmediate(task);
}

/** As the system clock's timers, but the process may end before. */
export function setBackgroundTimer(ms: number, task: () => void): () => void {
  const handle = setTimeout(task, Math.min(Math.max(0, ms), longestTimerMs)).unref();
  return () => clearTimeout(handle);
}
