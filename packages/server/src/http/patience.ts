import { unauthenticated } from '../access/authenticate.ts';
import type { ServerParts } from './parts.ts';
import type { RouteInput } from './route.ts';

/** Waiting of a request for something to end. */
interface Patience {
  /** Aborted when nothing is to be waited for any longer. */
  readonly signal: AbortSignal;
  /**
   * @throws RequestRefusedError `unauthenticated` (401) when the caller's credential has ended
   * meanwhile
   */
  assertAccepted(): void;
  end(): void;
}

/**
 * Ends the waiting of a request when its time is over, its client goes away, its credential ends or
 * the server closes.
 */
export function patience(
  { clock, closing, access }: ServerParts,
  { request, principal }: Pick<RouteInput<unknown, unknown, unknown>, 'request' | 'principal'>,
  ms: number,
): Patience {
  if (ms === 0)
    return { signal: AbortSignal.abort(), assertAccepted: () => undefined, end: () => undefined };
  const over = new AbortController();
  const credential = access.ended(principal, over.signal);
  const cancel = clock.setTimer(ms, () => over.abort());
  const signals = [request.signal, closing, credential];
  const abort = (): void => over.abort();
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
  if (signals.some(({ aborted }) => aborted)) over.abort();
  const end = (): void => {
    cancel();
    for (const signal of signals) signal.removeEventListener('abort', abort);
    over.abort();
  };
  const assertAccepted = (): void => {
    if (credential.aborted) throw unauthenticated();
  };
  return { signal: over.signal, assertAccepted, end };
}
