import {
  findInvalidOption,
  isCount,
  isListOf,
  isNonEmptyText,
  isText,
  type OptionChecks,
} from '../../base/options.ts';
import { InvalidTriggerError } from '../errors.ts';
import type { TriggerStatus } from './trigger-state.ts';

/** Filter of the list of triggers. */
export interface TriggerListOptions {
  /** @default all but deleted ones */
  readonly statuses?: readonly TriggerStatus[];
  /** User on whose behalf their tasks run. @default every one */
  readonly requester?: string;
  /** @default 100 */
  readonly limit?: number;
}

/** Author and reason of a change. */
export interface TriggerControlOptions {
  /** `user`, `operator` or `trigger`, with an id behind a colon. @default 'operator' */
  readonly by?: string;
  readonly reason?: string;
}

/** All statuses of a trigger; `deleted` is the last one. */
export const triggerStatuses = ['active', 'paused', 'disabled', 'completed', 'deleted'] as const;
export const listChecks: OptionChecks<TriggerListOptions> = {
  statuses: isListOf(...triggerStatuses),
  requester: isNonEmptyText,
  limit: isCount,
};
const controlChecks: OptionChecks<TriggerControlOptions> = {
  by: (value) =>
    typeof value === 'string' && /^(user|operator|trigger)(:.+)?$/s.test(value)
      ? undefined
      : "'user', 'operator' or 'trigger', with an id behind a colon",
  reason: isText,
};

/** @throws InvalidTriggerError */
export function checkControl(action: string, options: TriggerControlOptions): void {
  const invalid = findInvalidOption(options, controlChecks);
  if (invalid === undefined) return;
  const { reason } = invalid;
  throw new InvalidTriggerError({ function: `app.triggers.${action}`, reason });
}
