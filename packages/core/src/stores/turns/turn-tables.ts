import type { Flow, FlowName, Turn } from './turn.ts';

/** Part of the turns that a worker serves. */
export interface TurnsWanted {
  readonly app: string;
  /** `undefined` for all tenants. */
  readonly tenant: string | undefined;
  /** Names of runnables; `undefined` for all. A turn without a name fits always. */
  readonly names: readonly string[] | undefined;
}

/** One level of one queue. */
export interface LevelName {
  readonly app: string;
  readonly queue: string;
  readonly level: number;
}

/** Lease of a ledger, and the epoch of its claim. */
export interface TurnLease {
  readonly owner: string;
  readonly until: number;
  readonly epoch: number;
}

/** A session without a turn that is due. */
export interface DueWithoutTurn extends Pick<Turn, 'ledger' | 'tenant' | 'app' | 'session'> {
  readonly since: number;
}

/**
 * Rows of the turns in one store, as the order of turns reads and changes them. All calls of one
 * operation see one moment: they are made in one transaction. A look-up for the oldest is by
 * `since`, then by the number of the ledger.
 */
export interface TurnTables {
  turn(ledger: number): Turn | undefined;
  /** Writes a turn, new or changed. */
  save(turn: Turn): void;
  remove(ledger: number): void;

  /** The oldest ready turn of a level. */
  oldestOfLevel(level: LevelName, wanted: TurnsWanted): Turn | undefined;
  /** Flows of a level with ready turns, those with the least virtual time first. */
  busyFlows(level: LevelName, tenant: string | undefined): Iterable<Flow>;
  oldestOfFlow(flow: FlowName, wanted: TurnsWanted): Turn | undefined;
  flow(name: FlowName): Flow | undefined;
  saveFlow(flow: Flow): void;
  /** Number of turns of a level that were taken, this one included. */
  countPick(level: LevelName): number;

  /** Turns of a concurrency key that have a place, and ready ones that have none. */
  placesOfKey(app: string, key: string): { readonly held: number; readonly ready: number };
  /** Sessions that have a place of a concurrency key. */
  holdersOfKey(app: string, key: string): readonly string[];
  oldestBehindKey(app: string, key: string): Turn | undefined;
  /** Ready turns of a concurrency key that have no place yet. */
  readyOfKey(app: string, key: string): readonly Turn[];
  /** Turns of a rate key that are ready or await its next instant. */
  nextTurnsOfRate(app: string, rate: string): readonly Turn[];
  /** Number of ready turns of a flow, counted. */
  countReady(flow: FlowName): number;
  /** Turns of a rate key that are ready or await its next instant. */
  nextOfRate(app: string, rate: string): number;
  oldestBehindRate(app: string, rate: string): Turn | undefined;
  /** Instant of the next place of a rate key. */
  rateAt(app: string, rate: string): number;
  saveRateAt(app: string, rate: string, at: number): void;

  /** Resting turns whose instant has come, the first come first. */
  due(app: string, now: number, limit: number): readonly Turn[];
  /** Turns that were taken with a ticket. */
  takenWith(app: string, ticket: string): readonly Turn[];
  /** Taken turns whose session nobody has any more, the first taken first. */
  lost(app: string, now: number, isGone: (owner: string) => boolean): readonly Turn[];
  /** Number of turns of a queue that are taken for more than control work. */
  working(app: string, queue: string): number;
  /** Turns that nobody has and whose control work is due. */
  controlDue(wanted: TurnsWanted, now: number, limit: number): readonly Turn[];
  /** Instant of the first turn that rests until one. */
  nextReadyAt(app: string): number | null;
  dueWithoutTurn(
    app: string,
    tenant: string | undefined,
    now: number,
    limit: number,
  ): readonly DueWithoutTurn[];

  /** Number of turns that are ready, behind or out, counted up to `most`. */
  countWaiting(
    of: { readonly app: string; readonly queue: string; readonly level?: number } & {
      readonly tenant?: string;
      readonly requester?: string;
    },
    most: number,
  ): number;
  /** The turn that a coalesced one joins. */
  joinable(
    of: Pick<Turn, 'app' | 'tenant' | 'requester'> & { readonly coalesceKey: string },
  ): Turn | undefined;

  lease(ledger: number): TurnLease | undefined;
  /** Claims a ledger for an owner, and returns the epoch. */
  claim(ledger: number, owner: string, ttlMs: number, now: number): number;
  /** True when the session has something to do now. */
  isDue(ledger: number, now: number): boolean;
  /** Instant at which the session wants to be woken. */
  wakeAt(ledger: number): number | null;
}
