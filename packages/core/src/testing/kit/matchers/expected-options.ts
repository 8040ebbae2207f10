import { findInvalidOption, type OptionChecks } from '../../../base/options.ts';
import { refuseUse } from './errors.ts';

/**
 * The options of a matcher. @throws InvalidMatcherUseError for one that does not exist or is not
 * what it must be
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
