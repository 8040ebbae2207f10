import type { JsonObject, JsonValue } from '../../base/json.ts';

/** Tasks, triggers and actors that led to something. */
export type CauseData = {
  /** The first of them. */
  readonly root: string;
  /** Number of them. */
  readonly depth: number;
  /** Their names, the first one first. */
  readonly chain: readonly string[];
};

/** A published event, as it is recorded and handed to triggers. */
export type PublishedEvent = {
  readonly id: string;
  readonly source?: string;
  readonly type: string;
  readonly data?: JsonValue;
  /** Epoch milliseconds of the publication. */
  readonly at: number;
  readonly cause?: CauseData;
};

/** A trigger as it was declared: everything but the functions, which code has. */
export type TriggerDeclaration = {
  readonly name: string;
  readonly description?: string;
  /** A schedule, or the kind of what it fires on with what data say of it. */
  readonly on: JsonObject;
  /** Name of the runnable that a firing starts. */
  readonly start: string;
  /** Instruction for the started run. */
  readonly input?: string;
  readonly missed: string;
  readonly toleranceMs?: number;
  readonly overlap: string;
  readonly mostPerHour: number;
  /** Times that the trigger may occur in its own chain of causes. */
  readonly reentrant: number;
  readonly priority?: string;
  readonly queue?: string;
  readonly requester?: string;
  readonly notify?: { readonly user: string; readonly channels?: readonly string[] };
  /** True when it needs functions that only code has. */
  readonly usesCode: boolean;
};

/** One firing of a trigger. */
export type Firing = {
  /** The same for the same cause: two deliveries of it are one firing. */
  readonly id: string;
  readonly kind: 'schedule' | 'event' | 'condition' | 'webhook' | 'manual';
  /** Epoch milliseconds for which it fires. */
  readonly instant: number;
  readonly missed?: boolean;
  /** Due instants that it stands for. */
  readonly standsFor?: number;
  readonly cause?: CauseData;
  /** The event, the delivery, or what a check saw. */
  readonly about?: JsonObject;
};

type Considered = {
  /** Last instant of the schedule that was considered. */
  readonly considered?: number;
};

/** Decisions of the services of an app, with their data. */
export interface ServiceDecisions {
  readonly outbox: {
    /** A message to another ledger that cannot arrive. */
    readonly dead_letter: JsonObject & {
      readonly to: string;
      readonly key: string;
      readonly type: string;
      readonly reason: string;
    };
  };
  readonly service: {
    readonly roll: { readonly next: string };
    readonly begin: { readonly from: string; readonly name: string; readonly state: JsonObject };
  };
  readonly bus: {
    /** An event that a body has published, under its key. */
    readonly publish: { readonly key: string; readonly event: PublishedEvent };
    /** The delivery of an event to the subscriptions that there were. */
    readonly fan_out: { readonly event: PublishedEvent; readonly to: readonly string[] };
  };
  readonly trigger: {
    readonly declare: {
      readonly declaration: TriggerDeclaration;
      readonly hash: string;
      readonly revision: number;
      /** True when a deleted trigger was declared again. */
      readonly isNew?: boolean;
    };
    readonly pause: undefined;
    readonly resume: undefined;
    readonly disable: undefined;
    readonly delete: undefined;
    /** The start of the work of a firing. */
    readonly fire: Considered & {
      readonly firing: Firing;
      readonly task: string;
      readonly session: string;
    };
    /** A firing that waits for the end of earlier work. */
    readonly queue: Considered & { readonly firing: Firing; readonly reason: string };
    /** A firing that joins the last one that waits. */
    readonly join: Considered & { readonly firing: Firing; readonly reason: string };
    readonly skip: Considered & { readonly firing: Firing; readonly reason: string };
    /** The cancel of earlier work, for a firing that waits. */
    readonly cancel: { readonly task: string };
    /** Instants of the schedule that do not fire by themselves. */
    readonly leave_out: Considered & {
      readonly reason: string;
      readonly count: number;
      readonly first: number;
      readonly last: number;
    };
    readonly begin_again: Considered & { readonly now: number };
    readonly check: {
      readonly at: number;
      readonly met?: boolean;
      readonly saw?: JsonValue;
      readonly failed?: string;
    };
    /** The end of the work of a firing. */
    readonly end: {
      readonly firing: string;
      readonly task: string;
      readonly status: string;
      readonly error?: { readonly code: string; readonly message: string };
    };
    /** A firing that is not carried out. */
    readonly refuse: Considered & {
      readonly firing: Firing;
      readonly reason: string;
      readonly chain?: readonly string[];
    };
    /** The end of a trigger that has no further instant. */
    readonly complete: undefined;
  };
  readonly notifier: {
    readonly accept: { readonly notice: JsonObject & { readonly id: string } };
    /** A sending that begins; a process that ends during it leaves it without a result. */
    readonly attempt: {
      readonly channel: string;
      readonly notices: readonly string[];
      readonly key: string;
    };
    readonly send: {
      readonly channel: string;
      readonly notices: readonly string[];
      readonly messageId?: string;
    };
    readonly fail: {
      readonly channel: string;
      readonly notices: readonly string[];
      /** Stable name of the failure, such as `http_404`. */
      readonly errorType: string;
      readonly permanent: boolean;
      readonly effect: string;
      readonly retryAfterMs?: number;
    };
    readonly drop: { readonly notices: readonly string[]; readonly reason: string };
  };
}
