import type { Clock } from '../../base/clock.ts';
import type { Host } from '../../base/host.ts';

/** A session that an engine is told of. */
export interface EnginePlace {
  readonly tenant: string;
  readonly session: string;
  /** Lane whose run is meant. @default any */
  readonly lane?: string;
}

/** Order in which an engine that has a queue of its own hands a wake on. */
export interface WakeOptions {
  /** Priority of the work, from 0, realtime, to 4, background. @default 1 */
  readonly level?: number;
  /** True when the session waits in the queue of the store, in whose order it is taken. */
  readonly isQueued?: boolean;
}

/** Kind of a time. */
export interface TimeOptions {
  /**
   * True for a session that names its next time again and again, as a trigger does. It is no
   * session of a run: `advance` without a session comes to it.
   */
  readonly repeats?: boolean;
}

/** Outcome of `EngineWork.advance`. */
export interface Advanced {
  /** Number of sessions that were worked on. */
  readonly began: number;
}

export interface AdvanceSessionOptions {
  /** Gives up waiting for the work; what has begun goes on, or stops with the app. */
  readonly signal?: AbortSignal;
  /** Called when the store has given sessions to this process, before the work on them ends. */
  readonly onBegin?: (count: number) => void;
}

/**
 * The app, as its engine sees it. Whatever an engine calls, and how often, the store decides: what
 * nobody may work on now is not worked on, and no session has two workers.
 */
export interface EngineWork {
  readonly app: string;
  /** Clock of the app, by which `schedule` is meant. */
  readonly clock: Clock;
  /** Machine of this process. */
  readonly host: Host;
  /** Number of sessions that this process may work on at the same time. */
  readonly slots: number;
  /** True while a look for due sessions is under way. */
  readonly isLooking: boolean;
  /**
   * Begins to work on `places`, and on as many due sessions as there are places for.
   * @returns how many were due
   * @throws StoreUnavailableError
   */
  look(places: readonly EnginePlace[]): Promise<number>;
  /**
   * Works on one session, and resolves when that work has ended. A session that waits in the queue
   * is taken in its turn: another one may be worked on in its place.
   * @param place @default the next one of the queue
   * @throws StoreUnavailableError
   */
  advance(place: EnginePlace | undefined, options?: AdvanceSessionOptions): Promise<Advanced>;
}

/** Condition of an engine. */
export interface EngineHealth {
  /** Name of the engine, such as `embedded`. */
  readonly engine: string;
  /**
   * - `ok`: wakes arrive.
   * - `degraded`: wakes wait, such as while a server is away. None is lost.
   * - `stopped`: it does not work, or has not been started.
   */
  readonly status: 'ok' | 'degraded' | 'stopped';
  /** Reason of any other status than `ok`. */
  readonly message?: string;
  /** Number of wakes that wait until they can be handed on. @default 0 */
  readonly waiting?: number;
}

/**
 * Port of what keeps runs moving. The ledger is the only truth: an engine says "advance this
 * session now" or "at that time", and nothing else. So a wake that comes twice does no harm, and
 * one that is lost costs time alone, because the engine looks at the queue of the store again and
 * again.
 *
 * Contract, checked by `engineContract` of `adjutant/testing`.
 */
export interface Engine {
  readonly name: string;
  /**
   * True when wakes reach all processes of the app, such as through a server. What other processes
   * announce is then not told to it: they have done so. @default false
   */
  readonly isShared?: boolean;
  /**
   * Begins to give the app work. Called once, and again after a failure; never for an app that
   * takes no work.
   * @returns once wakes are taken
   */
  start(work: EngineWork): Promise<void>;
  /**
   * Says that a session may have something to do. Never waits, and never fails.
   * @param place @default any session of the app
   */
  wake(place?: EnginePlace, options?: WakeOptions): void;
  /**
   * Wakes at a time. Never waits, and never fails.
   * @param at epoch milliseconds by the clock of the app
   */
  schedule(at: number, place?: EnginePlace, options?: TimeOptions): void;
  /**
   * Says that a session has a cancel in its inbox: a wake that goes before all others. Never waits,
   * and never fails.
   */
  cancel(place: EnginePlace): void;
  /** Never fails. */
  health(): Promise<EngineHealth>;
  /** Gives no more work. The app ends what has begun. */
  stop(): Promise<void>;
}
