import type { Random } from '../base/random.ts';
import type { ModelRetry, ModelSettings } from './model.ts';

/** The retry settings of a model with the defaults filled in. */
export function resolveRetry(settings: ModelSettings): Required<ModelRetry> {
  const {
    maxAttempts = 3,
    initialDelayMs = 1_000,
    backoffMultiplier = 2,
    maxDelayMs = 30_000,
  } = settings.retry ?? {};
  return { maxAttempts, initialDelayMs, backoffMultiplier, maxDelayMs };
}

/**
 * Milliseconds to wait after the failed attempt number `attempt` (from 1): anything between nothing
 * and the exponential delay, so that callers that failed together do not return together. What the
 * provider asks for wins, whatever its length.
 */
export function retryDelay(
  retry: Required<ModelRetry>,
  attempt: number,
  random: Random,
  retryAfterMs?: number,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs;
  const ceiling = Math.min(
    retry.maxDelayMs,
    retry.initialDelayMs * retry.backoffMultiplier ** (attempt - 1),
  );
  return Math.round(random.next() * ceiling);
}
