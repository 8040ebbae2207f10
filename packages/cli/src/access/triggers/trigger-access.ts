import type {
  EventTrigger,
  Schedule,
  TriggerHistoryEntry,
  TriggerInfo,
  TriggerOptions,
  TriggerStatus,
} from 'adjutant/triggers';

export interface TriggerFilter {
  /** Statuses of the triggers. @default all but deleted ones */
  readonly statuses?: readonly TriggerStatus[];
  readonly requester?: string;
  readonly limit: number;
}

type Facts = 'description' | 'input' | 'priority' | 'queue' | 'requester' | 'notify';

/** Facts of a trigger that a command line can give. */
export interface TriggerChanges extends Pick<TriggerOptions, Facts | 'overlap' | 'missed'> {
  readonly on?: Schedule | EventTrigger;
  /** Name of the runnable that a firing starts. */
  readonly start?: string;
}

/** Returns the zone of the local times of a schedule. `undefined`: it has none. */
export function timeZoneOf(on: object): string | undefined {
  const { timeZone } = on as { readonly timeZone?: unknown };
  return typeof timeZone === 'string' ? timeZone : undefined;
}

/** A trigger to be made. */
export interface TriggerOrder extends TriggerChanges {
  readonly name: string;
  readonly on: Schedule | EventTrigger;
  readonly start: string;
}

/** A command about a trigger. `key`: the same one again is the same firing. */
export type TriggerCommand =
  | { readonly kind: 'pause' | 'resume' | 'disable' | 'delete' }
  | { readonly kind: 'fire'; readonly key?: string };

export interface TriggerPreview {
  /** Zone of the local times of the schedule, if it has any. */
  readonly timeZone: string | undefined;
  /** The next instants, in epoch milliseconds. */
  readonly instants: readonly number[];
}

/** The triggers of the app that a command works with. */
export interface TriggerAccess {
  list(filter: TriggerFilter): Promise<readonly TriggerInfo[]>;
  get(name: string): Promise<TriggerInfo>;
  create(order: TriggerOrder): Promise<TriggerInfo>;
  update(name: string, changes: TriggerChanges): Promise<TriggerInfo>;
  /** Stores a command, and returns the trigger as it is then. */
  control(name: string, command: TriggerCommand, reason: string | undefined): Promise<TriggerInfo>;
  preview(what: string | Schedule, count: number): Promise<TriggerPreview>;
  /** Returns what has happened to a trigger, the last first. */
  history(name: string, limit: number): Promise<readonly TriggerHistoryEntry[]>;
}
