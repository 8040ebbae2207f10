import { AdjutantError } from '../base/error.ts';
import { findInvalidOption, type OptionChecks } from '../base/options.ts';

/** A schedule, condition, webhook or policy of a trigger that cannot be as it was declared. */
export class InvalidTriggerError extends AdjutantError {
  constructor(data: { function: string; reason: string }) {
    super('invalid_trigger', `${data.function}() cannot be set up: ${data.reason}.`, data);
  }
}

/** @throws InvalidTriggerError for an option that does not exist or is not what it must be */
export function checkTriggerOptions<Options>(
  name: string,
  options: Options,
  checks: OptionChecks<Options>,
): void {
  const invalid = findInvalidOption(options, checks);
  if (invalid !== undefined)
    throw new InvalidTriggerError({ function: name, reason: invalid.reason });
}
