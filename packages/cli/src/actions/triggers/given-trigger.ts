import { defined } from 'adjutant/text';
import {
  at,
  cron,
  type EventTrigger,
  event,
  every,
  type Schedule,
  type TriggerOptions,
} from 'adjutant/triggers';
import type { TriggerChanges } from '../../access/triggers/trigger-access.ts';
import { UsageError } from '../../failure.ts';

/** Flags that say when a trigger fires. */
export interface WhenFlags {
  readonly cron?: string;
  readonly zone?: string;
  readonly every?: string;
  readonly at?: string;
  readonly event?: string;
}

type Facts = 'description' | 'input' | 'priority' | 'queue' | 'requester' | 'overlap' | 'missed';

/** Flags with the facts of a trigger. */
export interface TriggerFlags extends WhenFlags, Pick<TriggerOptions, Facts> {
  readonly start?: string;
  /** Id of the user who is told how the work of a firing ended. */
  readonly notify?: string;
}

const waysToFire = "--cron '0 8 * * 1-5', --every 15m, --at 2027-06-01T15:00+02:00";

/** Returns the facts of a trigger that flags give. @throws UsageError, InvalidTriggerError */
export function givenChanges(flags: TriggerFlags, now: number): TriggerChanges {
  const { description, input, missed, notify, overlap, priority, queue, requester, start } = flags;
  return defined({
    on: givenOn(flags, now),
    ...{ start, description, input, overlap, missed, priority, queue, requester },
    notify: notify === undefined ? undefined : { user: notify },
  });
}

/** Returns what flags say that a trigger fires on. @throws UsageError, InvalidTriggerError */
export function neededOn(flags: WhenFlags, now: number): Schedule | EventTrigger {
  const on = givenOn(flags, now);
  if (on !== undefined) return on;
  throw new UsageError({ reason: `Say when it fires: ${waysToFire}, or --event 'mail.*'.` });
}

/** Returns the schedule of flags. @throws UsageError, InvalidTriggerError */
export function neededSchedule(flags: Omit<WhenFlags, 'event'>, now: number): Schedule {
  const on = givenOn(flags, now);
  if (on !== undefined && on.kind !== 'event') return on;
  throw new UsageError({ reason: `Name a trigger, or a schedule: ${waysToFire}.` });
}

function givenOn(flags: WhenFlags, now: number): Schedule | EventTrigger | undefined {
  const { at: instant, cron: pattern, event: type, every: interval, zone: timeZone } = flags;
  if (timeZone !== undefined && pattern === undefined && instant === undefined)
    throw new UsageError({
      reason: '--zone is for --cron and --at: nothing else has local times.',
    });
  if (pattern !== undefined) return cron(pattern, { timeZone });
  if (interval !== undefined) return every(interval as Parameters<typeof every>[0]);
  if (type !== undefined) return event(type);
  if (instant === undefined) return undefined;
  const once = at(instant, { timeZone });
  if (once.instant > now) return once;
  throw new UsageError({
    reason: `--at ${instant}: that is over, so it would never fire. Name an instant to come.`,
  });
}
