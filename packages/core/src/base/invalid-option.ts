import { AdjutantError } from './error.ts';
import { findInvalidOption, type OptionChecks } from './options.ts';

/**
 * The arguments of a function of this package are invalid: the options of a ready guardrail,
 * middleware or error handler, or the question to a view.
 */
export class InvalidOptionError extends AdjutantError {
  constructor(data: { function: string; reason: string }) {
    super('invalid_option', `${data.function}() cannot be set up: ${data.reason}.`, data);
  }
}

/** @throws InvalidOptionError for an option that does not exist or is not what it must be */
export function checkOptions<Options>(
  name: string,
  options: Options,
  checks: OptionChecks<Options>,
): void {
  const invalid = findInvalidOption(options, checks);
  if (invalid !== undefined)
    throw new InvalidOptionError({ function: name, reason: invalid.reason });
}
