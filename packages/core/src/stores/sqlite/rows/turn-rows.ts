import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { OwnerSurvey } from '../../owner.ts';
import type { Flow, FlowName, Turn } from '../../turns/turn.ts';
import type {
  DueWithoutTurn,
  LevelName,
  TurnLease,
  TurnsWanted,
  TurnTables,
} from '../../turns/turn-tables.ts';
import { StatementCache } from '../statements.ts';
import { mostRows, rowId } from './rows-by-id.ts';
import { type StoredColumns, storedTurn, turnOfRow } from './turn-columns.ts';
import { turnChanges, turnQueries } from './turn-queries.ts';

type Values = Record<string, SQLInputValue>;
type Query = keyof typeof turnQueries;

const itemsOfLedger = `id > ${rowId('?2', '0')} and id <= ${rowId('?2', String(mostRows))}`;

/**
 * The tables of turns in the file. One operation sees one object for each turn, however it finds
 * it: the order of turns changes a turn before it saves it, and looks for others meanwhile.
 */
export class TurnRows implements TurnTables {
  readonly #statements: StatementCache;
  /** The turns that this operation has seen. */
  readonly #seen = new Map<number, Turn>();
  readonly #markLedger: StatementSync;
  readonly #markItems: StatementSync;
  readonly #ledger: StatementSync;
  readonly #claim: StatementSync;
  readonly #hasItem: StatementSync;

  constructor(database: DatabaseSync) {
    this.#statements = new StatementCache(database);
    this.#markLedger = database.prepare('update ledgers set has_turn = ?1 where id = ?2');
    this.#markItems = database.prepare(`update inbox set has_turn = ?1 where ${itemsOfLedger}`);
    this.#ledger = database.prepare(
      'select owner, lease_until, epoch, wake_at from ledgers where id = ?',
    );
    this.#claim = database.prepare(`update ledgers set epoch = epoch + 1, owner = ?, lease_ms = ?,
      lease_until = ? where id = ? returning epoch`);
    this.#hasItem = database.prepare(
      `select 1 from inbox where id > ${rowId('?1', '0')} and id <= ${rowId('?1', String(mostRows))}
        and wakes = 1 limit 1`,
    );
  }

  /** Forgets the turns that were seen. To be called before each operation. */
  begin(): void {
    this.#seen.clear();
  }

  turn(ledger: number): Turn | undefined {
    return this.#seen.get(ledger) ?? this.#first('turn', { $ledger: ledger });
  }

  save(turn: Turn): void {
    const values = storedTurn(turn);
    if (this.#seen.has(turn.ledger)) {
      this.#statements.get(turnChanges.update).run(...values, turn.ledger);
      return;
    }
    this.#statements.get(turnChanges.insert).run(...values);
    this.#seen.set(turn.ledger, turn);
    this.#mark(turn.ledger, true);
  }

  remove(ledger: number): void {
    this.#statements.get(turnChanges.remove).run({ $ledger: ledger });
    this.#seen.delete(ledger);
    this.#mark(ledger, false);
  }

  /** Notes at a session and its items whether it has a turn, so that those without are found. */
  #mark(ledger: number, hasTurn: boolean): void {
    this.#markLedger.run(Number(hasTurn), ledger);
    this.#markItems.run(Number(hasTurn), ledger);
  }

  #first(query: Query, values: Values): Turn | undefined {
    const row = this.#statements.get(turnQueries[query]).get(values);
    return row === undefined ? undefined : this.#seenTurn(row);
  }

  #all(query: Query, values: Values): readonly Turn[] {
    return this.#statements
      .get(turnQueries[query])
      .all(values)
      .map((row) => this.#seenTurn(row));
  }

  #seenTurn(row: StoredColumns): Turn {
    const ledger = row['ledger'] as number;
    const seen = this.#seen.get(ledger);
    if (seen !== undefined) return seen;
    const turn = turnOfRow(row);
    this.#seen.set(ledger, turn);
    return turn;
  }

  #count(query: Query, values: Values): number {
    return this.#statements.get(turnQueries[query]).get(values)?.['number'] as number;
  }

  oldestOfLevel(level: LevelName, { names, tenant }: TurnsWanted): Turn | undefined {
    const values = levelValues(level);
    if (names === undefined)
      return tenant === undefined
        ? this.#first('oldestOfLevel', values)
        : this.#first('oldestOfTenant', { ...values, $tenant: tenant });
    const named = { ...values, $names: namesText(names) };
    return tenant === undefined
      ? this.#first('oldestOfLevelNamed', named)
      : this.#first('oldestOfTenantNamed', { ...named, $tenant: tenant });
  }

  *busyFlows(level: LevelName, tenant: string | undefined): Generator<Flow, void, undefined> {
    const values = levelValues(level);
    const rows =
      tenant === undefined
        ? this.#statements.get(turnQueries.busyFlows).iterate(values)
        : this.#statements
            .get(turnQueries.busyFlowsOfTenant)
            .iterate({ ...values, $tenant: tenant });
    for (const row of rows) yield flowOfRow(row);
  }

  oldestOfFlow(flow: FlowName, { names, tenant }: TurnsWanted): Turn | undefined {
    if (tenant !== undefined && tenant !== flow.tenant) return undefined;
    return names === undefined
      ? this.#first('oldestOfFlow', flowValues(flow))
      : this.#first('oldestOfFlowNamed', { ...flowValues(flow), $names: namesText(names) });
  }

  flow(name: FlowName): Flow | undefined {
    const row = this.#statements.get(turnQueries.flow).get(flowValues(name));
    return row === undefined ? undefined : flowOfRow(row);
  }

  saveFlow({ app, queue, level, tenant, requester, virtualTime, ready }: Flow): void {
    this.#statements
      .get(turnChanges.saveFlow)
      .run(app, queue, level, tenant, requester, virtualTime, ready);
  }

  countPick(level: LevelName): number {
    const row = this.#statements.get(turnChanges.countPick).get(levelValues(level));
    return row?.['picks'] as number;
  }

  placesOfKey(app: string, key: string): { readonly held: number; readonly ready: number } {
    const values = { $app: app, $key: key };
    return { held: this.#count('held', values), ready: this.#count('readyOfKey', values) };
  }

  holdersOfKey(app: string, key: string): readonly string[] {
    return this.#statements
      .get(turnQueries.holders)
      .all({ $app: app, $key: key })
      .map(({ session }) => session as string);
  }

  oldestBehindKey(app: string, key: string): Turn | undefined {
    return this.#first('behindKey', { $app: app, $key: key });
  }

  readyOfKey(app: string, key: string): readonly Turn[] {
    return this.#all('turnsReadyOfKey', { $app: app, $key: key });
  }

  nextTurnsOfRate(app: string, rate: string): readonly Turn[] {
    return this.#all('turnsNextOfRate', { $app: app, $rate: rate });
  }

  countReady(flow: FlowName): number {
    return this.#count('readyOfFlow', flowValues(flow));
  }

  nextOfRate(app: string, rate: string): number {
    return this.#count('nextOfRate', { $app: app, $rate: rate });
  }

  oldestBehindRate(app: string, rate: string): Turn | undefined {
    return this.#first('behindRate', { $app: app, $rate: rate });
  }

  rateAt(app: string, rate: string): number {
    const row = this.#statements.get(turnQueries.rateAt).get({ $app: app, $rate: rate });
    return (row?.['at'] as number | undefined) ?? Number.NEGATIVE_INFINITY;
  }

  saveRateAt(app: string, rate: string, at: number): void {
    this.#statements.get(turnChanges.saveRateAt).run({ $app: app, $rate: rate, $at: at });
  }

  due(app: string, now: number, limit: number): readonly Turn[] {
    return this.#all('due', { $app: app, $now: now, $limit: limit });
  }

  takenWith(app: string, ticket: string): readonly Turn[] {
    return this.#all('takenWith', { $app: app, $ticket: ticket });
  }

  lost(app: string, now: number, isGone: (owner: string) => boolean): readonly Turn[] {
    const gone = this.#statements
      .get(turnQueries.owners)
      .all({ $app: app, $now: now })
      .map(({ owner }) => owner as string)
      .filter(isGone);
    return this.#all('lost', { $app: app, $now: now, $gone: JSON.stringify(gone) });
  }

  working(app: string, queue: string): number {
    return this.#count('working', { $app: app, $queue: queue });
  }

  controlDue({ app, tenant, names }: TurnsWanted, now: number, limit: number): readonly Turn[] {
    return this.#all('controlDue', {
      $app: app,
      $tenant: tenant ?? null,
      $names: names === undefined ? null : namesText(names),
      $now: now,
      $limit: limit,
    });
  }

  nextReadyAt(app: string): number | null {
    const at = (query: 'firstResting' | 'firstControl'): number | undefined =>
      this.#statements.get(turnQueries[query]).get({ $app: app })?.['at'] as number | undefined;
    const first = Math.min(
      at('firstResting') ?? Number.POSITIVE_INFINITY,
      at('firstControl') ?? Number.POSITIVE_INFINITY,
    );
    return first === Number.POSITIVE_INFINITY ? null : first;
  }

  dueWithoutTurn(
    app: string,
    tenant: string | undefined,
    now: number,
    limit: number,
  ): readonly DueWithoutTurn[] {
    const owners = new OwnerSurvey();
    const due: DueWithoutTurn[] = [];
    const rows = this.#statements
      .get(turnQueries.dueWithoutTurn)
      .iterate({ $app: app, $tenant: tenant ?? null, $now: now });
    for (const { owner, leaseUntil, ...row } of rows) {
      const isHeld = owner !== null && Number(leaseUntil ?? 0) > now;
      if (isHeld && !owners.isGone(owner as string)) continue;
      due.push(row as unknown as DueWithoutTurn);
      if (due.length === limit) break;
    }
    return due;
  }

  countWaiting(of: Parameters<TurnTables['countWaiting']>[0], most: number): number {
    const { app, queue, level, tenant, requester } = of;
    const values = { $app: app, $queue: queue, $most: most };
    if (level !== undefined) return this.#count('waitingOfLevel', { ...values, $level: level });
    if (tenant === undefined) return this.#count('waitingOfQueue', values);
    const ofTenant = { ...values, $tenant: tenant };
    return requester === undefined
      ? this.#count('waitingOfTenant', ofTenant)
      : this.#count('waitingOfRequester', { ...ofTenant, $requester: requester });
  }

  joinable(of: Parameters<TurnTables['joinable']>[0]): Turn | undefined {
    const { app, tenant, requester, coalesceKey } = of;
    return this.#first('joinable', {
      $app: app,
      $tenant: tenant,
      $requester: requester,
      $coalesceKey: coalesceKey,
    });
  }

  lease(ledger: number): TurnLease | undefined {
    const row = this.#ledger.get(ledger);
    if (row === undefined || row['owner'] === null) return undefined;
    return {
      owner: row['owner'] as string,
      until: (row['lease_until'] as number | null) ?? 0,
      epoch: row['epoch'] as number,
    };
  }

  claim(ledger: number, owner: string, ttlMs: number, now: number): number {
    const row = this.#claim.get(owner, ttlMs, now + ttlMs, ledger);
    return (row?.['epoch'] as number | undefined) ?? 0;
  }

  isDue(ledger: number, now: number): boolean {
    const wakeAt = this.wakeAt(ledger);
    return (wakeAt !== null && wakeAt <= now) || this.#hasItem.get(ledger) !== undefined;
  }

  wakeAt(ledger: number): number | null {
    return (this.#ledger.get(ledger)?.['wake_at'] as number | null | undefined) ?? null;
  }
}

function levelValues({ app, queue, level }: LevelName): Values {
  return { $app: app, $queue: queue, $level: level };
}

function flowValues(flow: FlowName): Values {
  return { ...levelValues(flow), $tenant: flow.tenant, $requester: flow.requester };
}

/** Names of a worker as JSON, with the empty one of turns that every worker takes. */
function namesText(names: readonly string[]): string {
  return JSON.stringify([...new Set(['', ...names])]);
}

function flowOfRow(row: StoredColumns): Flow {
  const { virtual_time: virtualTime, ...flow } = row;
  return { ...flow, virtualTime } as unknown as Flow;
}
