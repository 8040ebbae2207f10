import type { OptionCheck } from '../../base/options.ts';

/**
 * Checks the actor of a message from outside: `user`, `operator` or `trigger`, with an id behind a
 * colon.
 */
export const isOutsider: OptionCheck = (value) =>
  typeof value === 'string' && /^(user|operator|trigger)(:.+)?$/s.test(value)
    ? undefined
    : "'user', 'operator' or 'trigger', with an id behind a colon";
