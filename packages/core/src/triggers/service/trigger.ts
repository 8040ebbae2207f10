import { defined } from '../../base/defined.ts';
import { contentHash } from '../../base/hash.ts';
import type { JsonObject } from '../../base/json.ts';
import {
  describeValue,
  isAmount,
  isAnything,
  isGroup,
  isListOfText,
  isNonEmptyText,
  isOneOf,
  isText,
  type OptionChecks,
} from '../../base/options.ts';
import { channelFault } from '../../engine/services/notices.ts';
import type { ServiceHost } from '../../engine/services/service.ts';
import { type TaskPriority, taskPriorities } from '../../engine/tasks/priority.ts';
import type { TriggerDeclaration } from '../../ledger/decisions/service-decisions.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { ConditionFunction } from '../declarations/condition.ts';
import { type EventTrigger, event, type TriggerEvent } from '../declarations/event.ts';
import type { TriggerOn } from '../declarations/trigger-on.ts';
import type { WebhookTrigger } from '../declarations/webhook.ts';
import { checkTriggerOptions, InvalidTriggerError } from '../errors.ts';
import { type FiringOptions, firingPolicy } from '../firings/policy.ts';
import { scheduleOf } from '../schedules/schedules.ts';

/** User who is told how the task of a firing ended. */
export interface TriggerNotice {
  /** Id of the user. */
  readonly user: string;
  /** Names of the channels, in the order in which they are tried. @default all of the app */
  readonly channels?: readonly string[];
}

/** Options of a trigger. */
export interface TriggerOptions extends FiringOptions {
  /** Name, unique within app and tenant. */
  readonly name: string;
  readonly description?: string;
  /** Made by `cron`, `every`, `at`, `event`, `condition` or `webhook`. */
  readonly on: TriggerOn;
  /** The runnable that a firing starts, or its name; `action` makes one without a model. */
  readonly start: Runnable | string;
  /** Instruction for the started run. */
  readonly input?: string;
  /** @default 'low' */
  readonly priority?: TaskPriority;
  /** Queue of the started tasks. @default 'default' */
  readonly queue?: string;
  /** Id of the user on whose behalf the tasks run. @default 'system' */
  readonly requester?: string;
  /** Times that the trigger may occur in its own chain of causes. @default 0 */
  readonly reentrant?: number;
  /** User who is told how each started task ended. @default nobody */
  readonly notify?: TriggerNotice;
}

/** The functions and secrets of a trigger, which only code has. */
export interface TriggerCode {
  readonly where?: ((event: TriggerEvent) => boolean) | undefined;
  readonly check?: ConditionFunction | undefined;
  readonly webhook?: WebhookTrigger | undefined;
  readonly start?: Runnable | undefined;
}

/** A trigger that was declared. Made by `trigger`. */
export interface Trigger {
  readonly kind: 'trigger';
  readonly name: string;
  readonly declaration: TriggerDeclaration;
  readonly code: TriggerCode;
}

const checks: OptionChecks<TriggerOptions> = {
  name: isNonEmptyText,
  description: isText,
  on: isAnything,
  start: isAnything,
  input: isText,
  priority: isOneOf(...taskPriorities),
  queue: isNonEmptyText,
  requester: isNonEmptyText,
  reentrant: isAmount,
  notify: isGroup<TriggerNotice>({ user: isNonEmptyText, channels: isListOfText }),
  missed: isAnything,
  toleranceMs: isAnything,
  overlap: isAnything,
  mostPerHour: isAnything,
};

/**
 * Declares a trigger: what it fires on, and the runnable that each firing starts as a task.
 * @throws InvalidTriggerError
 * @example
 * ```ts
 * import { agent, memoryStore, rehearsal, runtime } from 'adjutant';
 * import { cron, trigger, triggers } from 'adjutant/triggers';
 *
 * const clerk = agent({ name: 'clerk', model: rehearsal() });
 * const morning = trigger({
 *   name: 'morning',
 *   on: cron('0 8 * * 1-5', { timeZone: 'Europe/Berlin' }),
 *   start: clerk,
 *   input: 'Summarize the unread mail.',
 * });
 * const app = runtime({ app: 'desk', store: memoryStore(), triggers: triggers([morning]) });
 * console.log((await app.triggers.preview('morning', { count: 2 })).length); // 2
 * await app.close();
 * ```
 */
export function trigger(options: TriggerOptions): Trigger {
  checkTriggerOptions<TriggerOptions>('trigger', options, checks);
  const { name, notify, on, start } = options;
  if (name === undefined) throw refusal('`name` must be a text that is not empty');
  if (name.length > 100) throw refusal('`name` must have at most 100 characters');
  const startName = typeof start === 'string' ? start : start?.name;
  if (typeof startName !== 'string' || startName === '')
    throw refusal(`\`start\` must be a runnable, or the name of one, not ${describeValue(start)}`);
  if (notify !== undefined && notify.user === undefined)
    throw refusal('`notify` needs the `user` who is told');
  const { data, code } = partsOf(on);
  const { missed, toleranceMs, overlap, mostPerHour } = options;
  const given = { missed, toleranceMs, overlap, mostPerHour };
  const policy = firingPolicy(on, withoutMissing(given));
  const { description, input, priority, queue, reentrant = 0, requester } = options;
  const usesCode = Object.values(code).some((part) => part !== undefined);
  const more = { description, input, notify, priority, queue, requester };
  const declaration = {
    ...{ name, on: data, start: startName, ...policy, reentrant, usesCode },
    ...withoutMissing(more),
  };
  return Object.freeze({
    kind: 'trigger',
    name,
    declaration: declaration as unknown as TriggerDeclaration,
    code: { ...code, ...(typeof start === 'string' ? {} : { start }) },
  });
}

function withoutMissing<Group extends object>(group: Group): Partial<Group> {
  const given = Object.entries(group).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<Group>;
}

/**
 * Options of a trigger after a change. `missed` and `toleranceMs` are for schedules alone, and go
 * with the schedule. An option that is given as `undefined` is taken away.
 */
export function changedOptions(
  { usesCode: _, missed, toleranceMs, ...kept }: TriggerDeclaration,
  changes: Partial<TriggerOptions>,
): TriggerOptions {
  const { kind } = changes.on ?? kept.on;
  const isScheduled = kind === 'cron' || kind === 'every' || kind === 'at';
  const late = isScheduled ? defined({ missed, toleranceMs }) : {};
  return { ...kept, ...late, ...changes } as unknown as TriggerOptions;
}

/** Name of a declaration: another one has another hash. */
export function declarationHash(declaration: TriggerDeclaration): string {
  return contentHash(declaration);
}

/**
 * Refuses a trigger that is to tell somebody by channels that the app does not have.
 * @throws InvalidTriggerError
 */
export function assertTold(
  { channels }: Pick<ServiceHost, 'channels'>,
  { notify }: TriggerDeclaration,
): void {
  const fault = notify && channelFault('notify', notify.channels, channels());
  if (fault !== undefined) throw refusal(fault);
}

/**
 * Refuses a trigger whose only instant is over: it would never fire.
 * @throws InvalidTriggerError
 */
export function assertAhead({ name, on }: TriggerDeclaration, now: number): void {
  const { instant, kind } = on as { readonly kind?: string; readonly instant?: number };
  if (kind !== 'at' || instant === undefined || instant > now) return;
  const [at, by] = [new Date(instant).toISOString(), new Date(now).toISOString()];
  throw refusal(`the instant of "${name}", ${at}, lies in the past: it is ${by}`);
}

/** The part of `on` that data say, and the part that only code has. */
function partsOf(on: TriggerOn): { readonly data: JsonObject; readonly code: TriggerCode } {
  switch (on?.kind) {
    case 'cron':
    case 'every':
    case 'at':
      return { data: { ...scheduleOf(on) }, code: {} };
    case 'event': {
      // Checked again: it may have been written by hand.
      const { pattern, where }: EventTrigger = event(on.pattern, on.where);
      const filtered = where === undefined ? {} : { filtered: true };
      return { data: { kind: 'event', pattern, ...filtered }, code: { where } };
    }
    case 'condition':
      if (typeof on.check !== 'function') break;
      return {
        data: { kind: 'condition', everyMs: on.checks.everyMs },
        code: { check: on.check },
      };
    case 'webhook':
      if (!Array.isArray(on.secret)) break;
      return {
        data: { kind: 'webhook', toleranceMs: on.toleranceMs, maxBytes: on.maxBytes },
        code: { webhook: on },
      };
  }
  throw refusal(
    '`on` must be made by `cron`, `every`, `at`, `event`, `condition` or `webhook`, not ' +
      describeValue(on),
  );
}

function refusal(reason: string): InvalidTriggerError {
  return new InvalidTriggerError({ function: 'trigger', reason });
}
