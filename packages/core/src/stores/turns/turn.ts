import { defined } from '../../base/defined.ts';
import type { ConcurrencyKey, RateKey, TurnRow } from '../../ledger/port.ts';

/** Parts of a flow's name: turns of one flow share their place in the order of their level. */
export interface FlowName {
  readonly app: string;
  readonly queue: string;
  readonly level: number;
  readonly tenant: string;
  readonly requester: string;
}

/** The turns of one tenant and requester on one level of a queue. */
export interface Flow extends FlowName {
  /** Milliseconds of work that it was charged, each divided by its weight. */
  virtualTime: number;
  /** Number of its turns that are ready. */
  ready: number;
}

/**
 * Place of a turn in the tables.
 * - `out`: it would be ready, and is suspended.
 */
export type TurnPlace = 'ready' | 'behind' | 'taken' | 'resting' | 'out';

/** A turn as the store keeps it. Its session, tenant and app never change. */
export interface Turn {
  /** Number of the ledger, unique in the store. */
  readonly ledger: number;
  readonly tenant: string;
  readonly app: string;
  readonly session: string;
  queue: string;
  level: number;
  requester: string;
  runnable: string;
  place: TurnPlace;
  suspended: boolean;
  since: number;
  readyAt: number | null;
  /** Instant from which control work is due, which needs no free place; `null` for none. */
  controlAt: number | null;
  key: ConcurrencyKey | undefined;
  rate: RateKey | undefined;
  /** True while it has a place of its concurrency key. */
  holds: boolean;
  /** True while it waits for the next instant of its rate key. */
  awaitsRate: boolean;
  /** Deadlines while their time passes, and the milliseconds that are left while it does not. */
  softAt: number | undefined;
  hardAt: number | undefined;
  softLeftMs: number | undefined;
  hardLeftMs: number | undefined;
  coalesceKey: string | undefined;
  run: string | undefined;
  interests: number;
  attempts: number;
  estimateMs: number;
  takenAt: number | undefined;
  ticket: string | undefined;
  /** True when it goes before all others of its level, whatever its flow. */
  isFront: boolean;
  /** True when it was taken for control work alone. */
  isControl: boolean;
  /** True for a turn that was made when a session without one was taken. */
  isTransient: boolean;
  /** Milliseconds and weight by which its flow was charged when it was taken. */
  chargedMs: number;
  weight: number;
}

/** A turn of a session that has none yet. */
export function newTurn(
  identity: Pick<Turn, 'ledger' | 'tenant' | 'app' | 'session'>,
  now: number,
): Turn {
  return {
    ...identity,
    queue: 'default',
    level: 1,
    requester: '',
    runnable: '',
    place: 'resting',
    suspended: false,
    since: now,
    readyAt: null,
    controlAt: null,
    key: undefined,
    rate: undefined,
    holds: false,
    awaitsRate: false,
    softAt: undefined,
    hardAt: undefined,
    softLeftMs: undefined,
    hardLeftMs: undefined,
    coalesceKey: undefined,
    run: undefined,
    interests: 1,
    attempts: 1,
    estimateMs: 1_000,
    takenAt: undefined,
    ticket: undefined,
    isFront: false,
    isControl: false,
    isTransient: false,
    chargedMs: 0,
    weight: 1,
  };
}

/** The turn as the port shows it. */
export function turnRow(turn: Turn): TurnRow {
  const { tenant, app, session, queue, level, requester, runnable, place, suspended } = turn;
  const { since, readyAt, key, rate, softAt, hardAt, coalesceKey, run, takenAt } = turn;
  return {
    tenant,
    app,
    session,
    queue,
    level,
    requester,
    runnable,
    state: place === 'out' ? 'ready' : place,
    suspended,
    since,
    readyAt,
    interests: turn.interests,
    attempts: turn.attempts,
    estimateMs: turn.estimateMs,
    ...defined({ key, rate, softAt, hardAt, coalesceKey, run, takenAt }),
  };
}

export function flowOf({ app, queue, level, tenant, requester }: Turn): FlowName {
  return { app, queue, level, tenant, requester };
}
