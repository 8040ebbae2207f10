import type { ServiceHost } from './service.ts';

/** Limits of a call of code that belongs to the app. */
export interface CallLimits extends Pick<ServiceHost, 'clock' | 'host'> {
  /** Aborted when the session is given back. */
  readonly signal: AbortSignal;
  readonly limitMs: number;
  /** Noun of the call, for the error of one that takes too long. */
  readonly what: string;
}

/**
 * Calls code of the app for a service. Its signal is aborted when its time is over or the session
 * is given back, and then it is not awaited any more: code that ignores the signal must not hold
 * the session, or keep the app from closing.
 */
export async function limitedCall<Value>(
  call: (signal: AbortSignal) => Value | Promise<Value>,
  { clock, host, limitMs, signal, what }: CallLimits,
): Promise<Value> {
  // An abort that has been is not announced any more.
  if (signal.aborted) throw new Error(`the ${what} was aborted`);
  const controller = new AbortController();
  const { promise: over, reject } = Promise.withResolvers<never>();
  const end = (reason: string): void => {
    controller.abort();
    // Code that heeds the signal says first how far it has come.
    host.afterTurn(() => reject(new Error(reason)));
  };
  const abort = (): void => end(`the ${what} was aborted`);
  signal.addEventListener('abort', abort, { once: true });
  const cancel = clock.setTimer(limitMs, () => end(`the ${what} took more than ${limitMs} ms`));
  try {
    return await Promise.race([call(controller.signal), over]);
  } finally {
    cancel();
    signal.removeEventListener('abort', abort);
  }
}
