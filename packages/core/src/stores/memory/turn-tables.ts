import { type Flow, type FlowName, flowOf, type Turn } from '../turns/turn.ts';
import type {
  DueWithoutTurn,
  LevelName,
  TurnLease,
  TurnsWanted,
  TurnTables,
} from '../turns/turn-tables.ts';
import { SortedList } from './sorted-list.ts';

/** Ledgers of all tenants and apps, as turns need them. */
export interface TurnLedgers {
  lease(ledger: number): TurnLease | undefined;
  claim(ledger: number, owner: string, ttlMs: number, now: number): number;
  isDue(ledger: number, now: number): boolean;
  wakeAt(ledger: number): number | null;
  /** Sessions that are due, the longest first. */
  due(app: string, tenant: string | undefined, now: number): readonly DueWithoutTurn[];
}

/** Key of a row by which a list has it; kept, because the turn changes in place. */
interface Entry {
  readonly turn: Turn;
  readonly ledger: number;
  readonly at: number;
}

type List = SortedList<Entry>;

const byTime = (left: Entry, right: Entry): number =>
  left.at - right.at || left.ledger - right.ledger;

/** Turns of all tenants and apps in memory, with the lists by which they are found. */
export class MemoryTurnTables implements TurnTables {
  readonly #ledgers: TurnLedgers;
  readonly #turns = new Map<number, Turn>();
  readonly #lists = new Map<string, List>();
  /** Lists that have a turn, and its entry there. */
  readonly #places = new Map<number, readonly (readonly [List, Entry])[]>();
  readonly #flows = new Map<string, Flow>();
  readonly #flowsOfLevel = new Map<string, Set<Flow>>();
  readonly #rates = new Map<string, number>();
  readonly #picks = new Map<string, number>();

  constructor(ledgers: TurnLedgers) {
    this.#ledgers = ledgers;
  }

  turn(ledger: number): Turn | undefined {
    return this.#turns.get(ledger);
  }

  save(turn: Turn): void {
    this.#forget(turn.ledger);
    this.#turns.set(turn.ledger, turn);
    const places = namesOf(turn).map(([name, at]) => {
      const list = this.#list(name);
      const entry = { turn, ledger: turn.ledger, at };
      list.add(entry);
      return [list, entry] as const;
    });
    this.#places.set(turn.ledger, places);
  }

  remove(ledger: number): void {
    this.#forget(ledger);
    this.#places.delete(ledger);
    this.#turns.delete(ledger);
  }

  #forget(ledger: number): void {
    for (const [list, entry] of this.#places.get(ledger) ?? []) list.remove(entry);
  }

  #list(name: string): List {
    let list = this.#lists.get(name);
    if (list === undefined) {
      list = new SortedList(byTime);
      this.#lists.set(name, list);
    }
    return list;
  }

  *#in(name: string): Generator<Turn, void, undefined> {
    for (const { turn } of this.#lists.get(name) ?? []) yield turn;
  }

  #first(name: string, fits: (turn: Turn) => boolean = () => true): Turn | undefined {
    for (const turn of this.#in(name)) if (fits(turn)) return turn;
    return undefined;
  }

  oldestOfLevel(level: LevelName, wanted: TurnsWanted): Turn | undefined {
    return this.#first(levelKey('ready', level), (turn) => isWanted(turn, wanted));
  }

  *busyFlows(level: LevelName, tenant: string | undefined): Generator<Flow, void, undefined> {
    const flows = [...(this.#flowsOfLevel.get(levelKey('flows', level)) ?? [])].filter(
      (flow) => flow.ready > 0 && (tenant === undefined || flow.tenant === tenant),
    );
    yield* flows.sort(
      (left, right) =>
        left.virtualTime - right.virtualTime ||
        compareText(left.tenant, right.tenant) ||
        compareText(left.requester, right.requester),
    );
  }

  oldestOfFlow(flow: FlowName, wanted: TurnsWanted): Turn | undefined {
    return this.#first(flowKey(flow), (turn) => isWanted(turn, wanted));
  }

  flow(name: FlowName): Flow | undefined {
    const flow = this.#flows.get(flowKey(name));
    return flow === undefined ? undefined : { ...flow };
  }

  saveFlow(flow: Flow): void {
    const key = flowKey(flow);
    const level = levelKey('flows', flow);
    const ofLevel = this.#flowsOfLevel.get(level) ?? new Set();
    const known = this.#flows.get(key);
    if (known !== undefined) ofLevel.delete(known);
    ofLevel.add(flow);
    this.#flowsOfLevel.set(level, ofLevel);
    this.#flows.set(key, flow);
  }

  countPick(level: LevelName): number {
    const key = levelKey('picks', level);
    const picks = (this.#picks.get(key) ?? 0) + 1;
    this.#picks.set(key, picks);
    return picks;
  }

  placesOfKey(app: string, key: string): { readonly held: number; readonly ready: number } {
    return {
      held: this.#lists.get(name('held', app, key))?.size ?? 0,
      ready: this.#lists.get(name('readyOfKey', app, key))?.size ?? 0,
    };
  }

  holdersOfKey(app: string, key: string): readonly string[] {
    return Array.from(this.#in(name('held', app, key)), ({ session }) => session);
  }

  oldestBehindKey(app: string, key: string): Turn | undefined {
    return this.#first(name('behindKey', app, key));
  }

  readyOfKey(app: string, key: string): readonly Turn[] {
    return [...this.#in(name('readyOfKey', app, key))];
  }

  nextTurnsOfRate(app: string, rate: string): readonly Turn[] {
    return [...this.#in(name('nextOfRate', app, rate))];
  }

  countReady(flow: FlowName): number {
    return this.#lists.get(flowKey(flow))?.size ?? 0;
  }

  nextOfRate(app: string, rate: string): number {
    return this.#lists.get(name('nextOfRate', app, rate))?.size ?? 0;
  }

  oldestBehindRate(app: string, rate: string): Turn | undefined {
    return this.#first(name('behindRate', app, rate));
  }

  rateAt(app: string, rate: string): number {
    return this.#rates.get(name('rate', app, rate)) ?? Number.NEGATIVE_INFINITY;
  }

  saveRateAt(app: string, rate: string, at: number): void {
    this.#rates.set(name('rate', app, rate), at);
  }

  due(app: string, now: number, limit: number): readonly Turn[] {
    const due: Turn[] = [];
    for (const turn of this.#in(name('resting', app))) {
      if ((turn.readyAt ?? now) > now || due.length >= limit) break;
      due.push(turn);
    }
    return due;
  }

  takenWith(app: string, ticket: string): readonly Turn[] {
    return [...this.#in(name('taken', app))].filter((turn) => turn.ticket === ticket);
  }

  lost(app: string, now: number, isGone: (owner: string) => boolean): readonly Turn[] {
    return [...this.#in(name('taken', app))].filter(({ ledger }) => {
      const lease = this.lease(ledger);
      return lease === undefined || lease.until <= now || isGone(lease.owner);
    });
  }

  working(app: string, queue: string): number {
    return [...this.#in(name('taken', app))].filter(
      (turn) => turn.queue === queue && !turn.isControl,
    ).length;
  }

  controlDue(wanted: TurnsWanted, now: number, limit: number): readonly Turn[] {
    const due: Turn[] = [];
    for (const turn of this.#in(name('control', wanted.app))) {
      if ((turn.controlAt ?? now) > now || due.length >= limit) break;
      if (isWanted(turn, wanted)) due.push(turn);
    }
    return due;
  }

  nextReadyAt(app: string): number | null {
    const resting = this.#first(name('resting', app))?.readyAt ?? null;
    const control = this.#first(name('control', app))?.controlAt ?? null;
    return resting === null || control === null ? (resting ?? control) : Math.min(resting, control);
  }

  dueWithoutTurn(
    app: string,
    tenant: string | undefined,
    now: number,
    limit: number,
  ): readonly DueWithoutTurn[] {
    return this.#ledgers
      .due(app, tenant, now)
      .filter(({ ledger }) => !this.#turns.has(ledger))
      .slice(0, limit);
  }

  countWaiting(of: Parameters<TurnTables['countWaiting']>[0], most: number): number {
    const { app, queue, level, tenant, requester } = of;
    let count = 0;
    for (const turn of this.#in(name('waiting', app, queue))) {
      const fits =
        (level === undefined || turn.level === level) &&
        (tenant === undefined || turn.tenant === tenant) &&
        (requester === undefined || turn.requester === requester);
      if (fits) count += 1;
      if (count >= most) break;
    }
    return count;
  }

  joinable(of: Parameters<TurnTables['joinable']>[0]): Turn | undefined {
    return this.#first(name('coalesce', of.app, of.tenant, of.requester, of.coalesceKey));
  }

  lease(ledger: number): TurnLease | undefined {
    return this.#ledgers.lease(ledger);
  }

  claim(ledger: number, owner: string, ttlMs: number, now: number): number {
    return this.#ledgers.claim(ledger, owner, ttlMs, now);
  }

  isDue(ledger: number, now: number): boolean {
    return this.#ledgers.isDue(ledger, now);
  }

  wakeAt(ledger: number): number | null {
    return this.#ledgers.wakeAt(ledger);
  }

  /** All turns, the longest able to run first. */
  all(): readonly Turn[] {
    return [...this.#turns.values()].sort(
      (left, right) => left.since - right.since || left.ledger - right.ledger,
    );
  }

  /** A copy whose changes leave these tables as they are. */
  copy(): MemoryTurnTables {
    const copy = new MemoryTurnTables({ ...bound(this.#ledgers), claim: () => 0 });
    for (const turn of this.#turns.values()) copy.save({ ...turn });
    for (const flow of this.#flows.values()) copy.saveFlow({ ...flow });
    for (const [key, at] of this.#rates) copy.#rates.set(key, at);
    for (const [key, picks] of this.#picks) copy.#picks.set(key, picks);
    return copy;
  }
}

function bound(ledgers: TurnLedgers): TurnLedgers {
  return {
    lease: (ledger) => ledgers.lease(ledger),
    claim: (ledger, owner, ttlMs, now) => ledgers.claim(ledger, owner, ttlMs, now),
    isDue: (ledger, now) => ledgers.isDue(ledger, now),
    wakeAt: (ledger) => ledgers.wakeAt(ledger),
    due: (app, tenant, now) => ledgers.due(app, tenant, now),
  };
}

function name(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}

function levelKey(kind: string, { app, queue, level }: LevelName): string {
  return name(kind, app, queue, level);
}

function flowKey({ app, queue, level, tenant, requester }: FlowName): string {
  return name('flow', app, queue, level, tenant, requester);
}

function isWanted({ runnable, tenant }: Turn, wanted: TurnsWanted): boolean {
  const { names } = wanted;
  return (
    (wanted.tenant === undefined || wanted.tenant === tenant) &&
    (names === undefined || runnable === '' || names.includes(runnable))
  );
}

/** Names of the lists that have a turn, each with the time by which it stands there. */
function namesOf(turn: Turn): readonly (readonly [string, number])[] {
  const { app, queue, tenant, requester, place, since, key, rate, coalesceKey } = turn;
  const names: (readonly [string, number])[] = [];
  if (place === 'ready') {
    names.push([levelKey('ready', turn), since], [flowKey(flowOf(turn)), since]);
    if (key !== undefined && !turn.holds) names.push([name('readyOfKey', app, key.name), since]);
  }
  if (place === 'behind' && key !== undefined)
    names.push([name('behindKey', app, key.name), since]);
  if (place === 'behind' && rate !== undefined)
    names.push([name('behindRate', app, rate.name), since]);
  if (rate !== undefined && (place === 'ready' || turn.awaitsRate))
    names.push([name('nextOfRate', app, rate.name), since]);
  if (key !== undefined && turn.holds) names.push([name('held', app, key.name), since]);
  if (place === 'resting' && turn.readyAt !== null)
    names.push([name('resting', app), turn.readyAt]);
  if (place === 'taken') names.push([name('taken', app), turn.takenAt ?? since]);
  if (turn.controlAt !== null && place !== 'taken')
    names.push([name('control', app), turn.controlAt]);
  if (place === 'ready' || place === 'behind' || place === 'out')
    names.push([name('waiting', app, queue), since]);
  if (coalesceKey !== undefined)
    names.push([name('coalesce', app, tenant, requester, coalesceKey), since]);
  return names;
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
