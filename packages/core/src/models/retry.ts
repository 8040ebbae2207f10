import { defaultRetry, type ResolvedRetry, resolveRetry } from '../base/retry-options.ts';
import type { ModelSettings } from './model.ts';

export const defaultModelRetry: ResolvedRetry = Object.freeze({
  ...defaultRetry,
  maxDelayMs: 30_000,
  jitter: true,
});

/** The retry settings of a model with the defaults filled in, option by option. */
export function retryOf(
  { retry = {} }: ModelSettings,
  defaults = defaultModelRetry,
): ResolvedRetry {
  return resolveRetry(retry, defaults);
}
