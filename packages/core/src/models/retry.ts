import { defaultRetry, type ResolvedRetry, resolveRetry } from '../base/retry-options.ts';
import type { ModelSettings } from './model.ts';

const defaultModelRetry: ResolvedRetry = { ...defaultRetry, maxDelayMs: 30_000, jitter: true };

/** The retry settings of a model with the defaults filled in. */
export function retryOf({ retry = {} }: ModelSettings): ResolvedRetry {
  return resolveRetry(retry, defaultModelRetry);
}
