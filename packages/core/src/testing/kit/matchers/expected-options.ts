import { findInvalidOption, type OptionChecks } from '../../../base/options.ts';
import { refuseUse } from './errors.ts';

/**
 * Returns the options of a matcher.
 * @throws InvalidMatcherUseError for an unknown option or an invalid value
 */
export function readOptions<Options extends object>(
  matcher: string,
  options: unknown,
  checks: OptionChecks<Options>,
): Partial<Options> {
  if (options === undefined) return {};
  const invalid = findInvalidOption(options, checks);
  if (invalid !== undefined) return refuseUse(matcher, invalid.reason);
  return options as Partial<Options>;
}
