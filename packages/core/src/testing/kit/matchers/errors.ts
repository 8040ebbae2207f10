import { AdjutantError } from '../../../base/error.ts';

/**
 * Error of a matcher that cannot judge the given value, or is asked for something impossible.
 * Thrown with and without `.not`.
 */
export class InvalidMatcherUseError extends AdjutantError {
  constructor(data: { matcher: string; reason: string }) {
    super(
      'invalid_matcher_use',
      `${data.matcher}() cannot be used like this: ${data.reason}.`,
      data,
    );
  }
}

/** @throws InvalidMatcherUseError */
export function refuseUse(matcher: string, reason: string): never {
  throw new InvalidMatcherUseError({ matcher, reason });
}

/** Error of `setupMatchers()` when it found no test runner whose `expect` it could extend. */
export class ExpectNotFoundError extends AdjutantError {
  constructor(data: { tried: readonly string[] }, options?: ErrorOptions) {
    super(
      'expect_not_found',
      `setupMatchers() found no \`expect\` (it looked for ${data.tried.join(', ')}). Call ` +
        'it inside a test run of vitest or jest, or give it yours: setupMatchers(expect).',
      data,
      options,
    );
  }
}
