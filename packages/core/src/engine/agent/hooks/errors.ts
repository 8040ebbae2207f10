import { AdjutantError } from '../../../base/error.ts';
import { describeValue } from '../../../base/options.ts';

/** Error of a hook, a middleware or an error handler that threw or returned an unusable value. */
export class HookFailedError extends AdjutantError {
  constructor(data: { hook: string; owner: string; reason: string }, options?: ErrorOptions) {
    super('hook_failed', `\`${data.hook}\` of ${data.owner} failed: ${data.reason}`, data, options);
  }
}

/** Returns the error of a hook that returned an unusable value. */
export function unusable(
  hook: string,
  owner: string,
  given: unknown,
  expected: string,
): HookFailedError {
  return new HookFailedError({
    hook,
    owner,
    reason: `it returned ${describeValue(given)}; ${expected} is expected, or nothing.`,
  });
}
