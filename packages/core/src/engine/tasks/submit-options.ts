import { findJsonDefect, type JsonValue } from '../../base/json.ts';
import {
  describeValue,
  findInvalidOption,
  isCount,
  isGroup,
  isListOfText,
  isNonEmptyText,
  isOneOf,
  isPositive,
  isText,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import { type RetryOptions, retryChecks } from '../../base/retry-options.ts';
import { serviceQueue } from '../../ledger/port/service-sessions.ts';
import type { ConcurrencyKey, RateKey } from '../../ledger/port.ts';
import { wrongName } from '../../models/named-model.ts';
import { isDeadline, isDelay, isDuration, type TaskDeadline } from './deadline.ts';
import { InvalidTaskError } from './errors.ts';
import { type TaskPriority, taskPriorities } from './priority.ts';

/** User who is told of the end of a task. */
export interface TaskNotice {
  readonly user: string;
  /** Names of the channels, in the order in which they are tried. @default all of the app */
  readonly channels?: readonly string[];
}

/** Options of a task. */
export interface SubmitOptions {
  /** Name for people. @default the name of the runnable */
  readonly name?: string;
  readonly description?: string;
  /**
   * @default by `source`: `realtime` for `voice`, `high` for `text` and `telegram`, `low` for
   * `cron` and `trigger`, `background` for `watcher`; else `normal`
   */
  readonly priority?: TaskPriority;
  /** @default 'default' */
  readonly queue?: string;
  /** Cause of the task, such as `voice`, `text`, `cron` or `trigger`. @default none */
  readonly source?: string;
  /** Id of the user on whose behalf it runs. @default 'system' */
  readonly requester?: string;
  /**
   * Id of the session that it runs in, which is made when there is none. Tasks of one session run
   * one after the other, in the order of their submission. @default a session of its own
   */
  readonly session?: string;
  readonly deadline?: TaskDeadline;
  /** Instant before which it does not begin. @default at once */
  readonly notBefore?: Date | number;
  /** Milliseconds before which it does not begin. @default 0 */
  readonly delayMs?: number;
  /** Key of which only one task, or `limit` tasks, run at the same time. @default none */
  readonly concurrencyKey?: string | ConcurrencyKey;
  /** Key of which only `limit` tasks begin in `perMs` milliseconds. @default none */
  readonly rate?: RateKey;
  /**
   * Key of what is asked for: a task of the same requester with this key that has not begun stands
   * for this one too. `true` makes it of the name and the input. @default none
   */
  readonly coalesceKey?: string | true;
  /** Name of the submission: the same one again is the same task. @default a new one */
  readonly key?: string;
  /** Data that the runnable is started with, besides the input. */
  readonly data?: JsonValue;
  /** Name of the model that answers in the place of the agent's own. */
  readonly model?: string;
  /**
   * Executions of the task as a whole when it fails, the first one included, after ever longer
   * pauses. Completed work stays: an execution goes on behind it. `jitter` is not used.
   * @default one execution
   */
  readonly retry?: Omit<RetryOptions, 'jitter'>;
  /** User who is told of its final end, by the `notifications` of the app. @default nobody */
  readonly onComplete?: TaskNotice;
  /** Answered model calls that the run may have. @default as other runs */
  readonly maxRounds?: number;
  /** Expected duration, by which the share of the requester is charged. @default 1000 */
  readonly estimateMs?: number;
}

const isKey: OptionCheck = (value) => {
  if (typeof value === 'string') return isNonEmptyText(value);
  return isGroup<ConcurrencyKey>({
    name: isNonEmptyText,
    limit: isCount,
    hold: isOneOf('turn', 'task'),
  })(value);
};
/** Latest instant that a date can have. */
const latestInstant = 8_640_000_000_000_000;
const isInstant: OptionCheck = (value) => {
  const at = value instanceof Date ? value.getTime() : value;
  return Math.abs(Number(at)) <= latestInstant ? undefined : 'a date, or epoch milliseconds';
};
const isJson: OptionCheck = (value) =>
  findJsonDefect(value) === undefined ? undefined : 'a JSON value';

const { jitter: _, ...retryWithoutJitter } = retryChecks;

/** The name of a queue of tasks: that of the app's own services is none. */
const isQueueName: OptionCheck = (value) =>
  value === serviceQueue
    ? `another name than '${serviceQueue}', which is that of the app itself`
    : isNonEmptyText(value);

const submitChecks: OptionChecks<SubmitOptions> = {
  name: isNonEmptyText,
  description: isText,
  priority: isOneOf(...taskPriorities),
  queue: isQueueName,
  source: isNonEmptyText,
  requester: isNonEmptyText,
  session: isNonEmptyText,
  deadline: isDeadline,
  notBefore: isInstant,
  delayMs: isDelay,
  concurrencyKey: isKey,
  rate: isGroup<RateKey>({ name: isNonEmptyText, limit: isPositive, perMs: isPositive }),
  coalesceKey: (value) => (value === true ? undefined : isNonEmptyText(value)),
  key: isNonEmptyText,
  data: isJson,
  model: (value) => {
    const wrong = typeof value === 'string' ? wrongName(value) : describeValue(value);
    return wrong === undefined ? undefined : 'the name of a model, such as openai:gpt-5-mini';
  },
  retry: isGroup<Omit<RetryOptions, 'jitter'>>(retryWithoutJitter),
  onComplete: isGroup<TaskNotice>({ user: isNonEmptyText, channels: isListOfText }),
  maxRounds: isCount,
  estimateMs: isDuration,
};

/**
 * Checks the input and the options of a task.
 * @throws InvalidTaskError
 */
export function checkSubmission(input: unknown, options: SubmitOptions): void {
  const invalid = findInvalidOption(options, submitChecks);
  if (invalid !== undefined) throw new InvalidTaskError({ reason: invalid.reason });
  if (input !== undefined && typeof input !== 'string')
    throw new InvalidTaskError({
      reason:
        `its input must be a text, not ${describeValue(input)}; ` + 'give other values as `data`',
    });
  if (input === undefined && options.data === undefined)
    throw new InvalidTaskError({ reason: 'it needs an input, or `data`' });
  if (options.onComplete !== undefined && options.onComplete.user === undefined)
    throw new InvalidTaskError({ reason: '`onComplete` needs the `user` who is told' });
  if (options.notBefore !== undefined && options.delayMs !== undefined)
    throw new InvalidTaskError({ reason: 'give `notBefore` or `delayMs`, not both' });
  for (const key of ['concurrencyKey', 'rate'] as const)
    if (options[key] !== undefined && typeof options[key] === 'object')
      for (const member of key === 'rate' ? ['name', 'limit', 'perMs'] : ['name', 'limit'])
        if (!(member in options[key]))
          throw new InvalidTaskError({ reason: `\`${key}\` needs \`${member}\`` });
}

const prioritiesOfSources: Readonly<Record<string, TaskPriority>> = {
  voice: 'realtime',
  text: 'high',
  telegram: 'high',
  cron: 'low',
  trigger: 'low',
  watcher: 'background',
  self_improvement: 'background',
};

/** Priority of a task: the one that is given, else that of its source. */
export function priorityFor({ priority, source }: SubmitOptions): TaskPriority {
  if (priority !== undefined) return priority;
  const known = source !== undefined && Object.hasOwn(prioritiesOfSources, source);
  return (known ? prioritiesOfSources[source] : undefined) ?? 'normal';
}
