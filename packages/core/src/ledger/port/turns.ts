import type { StoreTime } from './store-time.ts';

/**
 * State of a turn.
 * - `ready`: it may be taken.
 * - `behind`: its concurrency or rate key has no free place.
 * - `taken`: a worker has it.
 * - `resting`: its session waits; it becomes ready at `readyAt`, or by an item that wakes it.
 */
export type TurnState = 'ready' | 'behind' | 'taken' | 'resting';

/** A key of which at most `limit` turns are taken at the same time. */
export interface ConcurrencyKey {
  readonly name: string;
  readonly limit: number;
  /**
   * `turn`: the place is held while a worker works. `task`: from the first time until the turn
   * ends.
   * @default 'turn'
   */
  readonly hold?: 'turn' | 'task';
}

/** A key of which at most `limit` turns are taken in `perMs` milliseconds, spread evenly. */
export interface RateKey {
  readonly name: string;
  readonly limit: number;
  readonly perMs: number;
}

/** Settings of a turn, as a task is submitted with. */
export interface TurnSettings {
  /** @default 'default' */
  readonly queue?: string;
  /** From 0, realtime, to 4, background. @default 1 */
  readonly level?: number;
  /** Id of the user on whose behalf the work is done. @default '' */
  readonly requester?: string;
  /** Name of the runnable, so that only a worker that has it takes the turn. @default any */
  readonly runnable?: string;
  readonly key?: ConcurrencyKey;
  readonly rate?: RateKey;
  /** Milliseconds of waiting in the queue and of work until the deadlines. */
  readonly softMs?: number;
  readonly hardMs?: number;
  /**
   * A turn that has not begun, of the same tenant and requester, with this key is the same turn.
   */
  readonly coalesceKey?: string;
  /** Id of the run that the turn begins. */
  readonly run?: string;
  /**
   * Expected duration in milliseconds, by which its flow is charged when it is taken. @default 1000
   */
  readonly estimateMs?: number;
  /** Executions of the task as a whole, this one included. @default 1 */
  readonly attempts?: number;
}

/**
 * Change of a turn. One with `run` or `to` makes the turn of a session that has none; others leave
 * such a session as it is.
 */
export interface TurnPatch extends TurnSettings {
  /**
   * Next state. `ready`: from `at` on. `resting`: until `at`, or until an item wakes it. `none`:
   * the turn ends.
   * @default unchanged; for a new turn `ready`
   */
  readonly to?: 'ready' | 'resting' | 'none';
  /** Epoch milliseconds by the store's clock. @default now for `ready`, never for `resting` */
  readonly at?: number;
  /** True to put the turn before all others of its level. */
  readonly toFront?: boolean;
  /** True to keep the turn from being taken, whatever its state; false to end that. */
  readonly suspended?: boolean;
  /**
   * Ends one interest in a coalesced turn. The rest of the post is left out while others remain.
   */
  readonly leave?: boolean;
}

/** A turn: the place of one session in the queue. All instants are by the store's clock. */
export interface TurnRow {
  readonly tenant: string;
  readonly app: string;
  readonly session: string;
  readonly queue: string;
  readonly level: number;
  readonly requester: string;
  readonly runnable: string;
  readonly state: TurnState;
  readonly suspended: boolean;
  /** Instant at which the work last became able to run. */
  readonly since: number;
  /** Instant at which a resting turn becomes ready; `null` for none. */
  readonly readyAt: number | null;
  readonly key?: ConcurrencyKey;
  readonly rate?: RateKey;
  /** Deadlines, while their time passes. */
  readonly softAt?: number;
  readonly hardAt?: number;
  readonly coalesceKey?: string;
  readonly run?: string;
  /** Number of callers that a coalesced turn stands for. */
  readonly interests: number;
  readonly attempts: number;
  readonly estimateMs: number;
  /** Instant at which it was last taken. */
  readonly takenAt?: number;
}

/** Limits of the turns that wait in a queue; `post` refuses one more. */
export interface AdmissionLimits {
  /** Of each level, by its number. */
  readonly levels?: readonly (number | null)[];
  /** Of all levels together. */
  readonly total?: number;
  /** Of the tenant, and of the requester. */
  readonly tenant?: number;
  readonly requester?: number;
}

/** Weights of tenants and requesters: one with weight 2 gets twice the share. @default 1 each */
export interface ShareWeights {
  readonly tenants?: Readonly<Record<string, number>>;
  readonly requesters?: Readonly<Record<string, number>>;
}

/** Request of a worker for turns. */
export interface TakeOptions {
  readonly app: string;
  /** @default all tenants of the app */
  readonly tenant?: string;
  /** Owner under which the sessions are claimed. */
  readonly owner: string;
  /** Name of this call. The same ticket again returns the same turns, as far as they are taken. */
  readonly ticket: string;
  readonly ttlMs: number;
  /** Free places. */
  readonly slots: number;
  /** Free places that only turns of level 0 may use. @default 0 */
  readonly realtimeSlots?: number;
  /** @default the queue `default` */
  readonly queues?: readonly string[];
  /** Names of the runnables that the worker has. @default any */
  readonly names?: readonly string[];
  /** Levels that count. @default all */
  readonly levels?: readonly number[];
  /** Numbers of turns of a queue that may be taken at the same time, by all workers. */
  readonly queueLimits?: Readonly<Record<string, number>>;
  readonly weights?: ShareWeights;
}

/** A session that was claimed with its turn. */
export interface Taken {
  readonly tenant: string;
  readonly session: string;
  readonly epoch: number;
  readonly until: number;
  readonly turn: TurnRow;
  /**
   * True when only control work may be done: a cancel or a deadline came while it could not run.
   */
  readonly isControl: boolean;
}

export interface TakeReceipt extends StoreTime {
  readonly taken: readonly Taken[];
  /** Instant at which the next turn becomes ready by itself; `null` for none. */
  readonly nextAt: number | null;
}

/** Part of the queue that a worker serves. */
export type TurnScope = Pick<TakeOptions, 'queues' | 'names' | 'queueLimits' | 'weights'>;

/** Reason why a turn is not taken now. */
export type TurnBlock =
  | { readonly kind: 'suspended' }
  /** It becomes ready at this instant. */
  | { readonly kind: 'not_before'; readonly at: number }
  /** Its session waits for an item. */
  | { readonly kind: 'waits' }
  /** All places of its concurrency key are taken, by these sessions. */
  | { readonly kind: 'key'; readonly key: string; readonly holders: readonly string[] }
  /** The next place of its rate key comes at this instant. */
  | { readonly kind: 'rate'; readonly key: string; readonly at: number }
  | { readonly kind: 'queue_limit'; readonly queue: string; readonly limit: number }
  /** No name or queue of the scope fits. */
  | { readonly kind: 'out_of_scope' }
  | { readonly kind: 'taken'; readonly owner: string };

export interface TurnExplanation {
  readonly turn: TurnRow;
  /** Missing for a turn that would be taken as soon as a place is free. */
  readonly block?: TurnBlock;
  /**
   * Number of turns that are taken before it, by the order of now. Missing when it is not ready,
   * and when more than 1,000 come before it.
   */
  readonly before?: number;
}

export interface TurnFilter {
  readonly session?: string;
  readonly queue?: string;
  readonly state?: TurnState;
  /** @default 100 */
  readonly limit?: number;
}
