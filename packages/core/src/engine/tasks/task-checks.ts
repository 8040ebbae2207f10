import { findInvalidOption, isText, type OptionChecks } from '../../base/options.ts';
import type { PostOptions } from '../../ledger/port.ts';
import { isOutsider } from '../frame/outsider.ts';
import { InvalidTaskError } from './errors.ts';
import type { TaskControlOptions } from './task-handle.ts';

const controlChecks: OptionChecks<TaskControlOptions> = { by: isOutsider, reason: isText };

export function checkedControl(options: TaskControlOptions): TaskControlOptions {
  const invalid = findInvalidOption(options, controlChecks);
  if (invalid !== undefined)
    throw new InvalidTaskError({ refused: 'The task cannot be changed', reason: invalid.reason });
  return options;
}

export function assertNotOver({ turn }: PostOptions, now: number): void {
  if (turn?.hardMs !== undefined && !(now + turn.hardMs > now))
    throw new InvalidTaskError({ reason: 'its hard deadline lies in the past' });
}
