import { defined } from '../../base/defined.ts';
import {
  isCount,
  isGroup,
  isNonEmptyText,
  isNotNegative,
  isOneOf,
  isPositive,
  type OptionCheck,
} from '../../base/options.ts';
import type { TaskData } from '../../ledger/folds/task.ts';

/**
 * Action at the hard deadline of a task.
 * - `discard`: the task ends with the state `timeout`, and without a result.
 * - `partial`: it ends with `timeout`; the last text of its models is its result, also a part of
 *   the answer that is cut off.
 * - `fallback`: it ends with `timeout`; the text `fallback` is its result, such as a sentence that
 *   is spoken.
 * - `retry`: it stops where it is, gives its place to others, and goes on from there after
 *   `retryAfterMs`, with its deadlines from the beginning.
 * - `retry_when_idle`: the same, at once and with the priority `background`.
 */
export type DeadlineAction = (typeof deadlineActions)[number];

const deadlineActions = ['discard', 'partial', 'fallback', 'retry', 'retry_when_idle'] as const;

/** Milliseconds of waiting in the queue and of work after which a task is to end. */
export interface TaskDeadline {
  /** From then on the model is told, once, to come to an end. @default none */
  readonly softMs?: number;
  /** Then `action` is done. @default none */
  readonly hardMs?: number;
  /** @default 'discard' */
  readonly action?: DeadlineAction;
  /** Result of a task with the action `fallback`, which needs it. */
  readonly fallback?: string;
  /** Milliseconds after which a task with the action `retry` goes on. @default 600_000 */
  readonly retryAfterMs?: number;
  /**
   * Number of hard deadlines of a task with `retry` or `retry_when_idle`. At the last one it ends
   * as with `partial`.
   * @default 3
   */
  readonly attempts?: number;
}

/** Longest delay in milliseconds: a hundred years. */
const longestDelayMs = 3_155_760_000_000;

export const isDelay: OptionCheck = (value) =>
  isNotNegative(value) ??
  ((value as number) <= longestDelayMs ? undefined : 'at most a hundred years of milliseconds');
export const isDuration: OptionCheck = (value) => isPositive(value) ?? isDelay(value);

const isDeadlineGroup = isGroup<TaskDeadline>({
  softMs: isDuration,
  hardMs: isDuration,
  action: isOneOf(...deadlineActions),
  fallback: isNonEmptyText,
  retryAfterMs: isDuration,
  attempts: isCount,
});

/** Checks the options of a deadline, and that they fit each other. */
export const isDeadline: OptionCheck = (value) =>
  isDeadlineGroup(value) ?? misfitOf(value as TaskDeadline);

function misfitOf({ action, attempts, fallback, retryAfterMs, ...times }: TaskDeadline) {
  const { hardMs, softMs } = times;
  if (softMs !== undefined && hardMs !== undefined && softMs >= hardMs)
    return `an object whose \`softMs\` (${softMs}) is less than its \`hardMs\` (${hardMs})`;
  if (action !== undefined && hardMs === undefined)
    return 'an object with `hardMs` for its `action`';
  if ((action === 'fallback') !== (fallback !== undefined))
    return "an object with a `fallback` for the action 'fallback', and for no other";
  if (retryAfterMs !== undefined && action !== 'retry')
    return "an object with `retryAfterMs` only for the action 'retry'";
  if (attempts !== undefined && action !== 'retry' && action !== 'retry_when_idle')
    return "an object with `attempts` only for the actions 'retry' and 'retry_when_idle'";
  return undefined;
}

const retriedAfterMs = 600_000;
const mostDeadlines = 3;

/** Deadlines as the ledger has them. */
export function deadlineData({
  action = 'discard',
  attempts = mostDeadlines,
  fallback,
  hardMs,
  retryAfterMs = retriedAfterMs,
  softMs,
}: TaskDeadline): Pick<TaskData, 'softMs' | 'hardMs' | 'deadline'> {
  const isRetried = action === 'retry' || action === 'retry_when_idle';
  const deadline = {
    action,
    ...defined({ fallback }),
    ...(isRetried ? { attempts } : {}),
    ...(action === 'retry' ? { retryAfterMs } : {}),
  };
  return defined({ softMs, hardMs, deadline: action === 'discard' ? undefined : deadline });
}
