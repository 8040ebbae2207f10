import { KeyBusyError } from '../../ledger/errors/turn-errors.ts';
import type { RebuiltTurn, TurnPatch } from '../../ledger/port.ts';
import { DeadlineClock } from './deadlines.ts';
import { FlowCharges } from './flow-charges.ts';
import { rebuiltFields } from './rebuilt-turn.ts';
import { flowOf, newTurn, type Turn } from './turn.ts';
import type { TurnTables } from './turn-tables.ts';

/** Milliseconds that each level counts, from SEMANTICS of the order: an older turn overtakes. */
export const levelMs = 300_000;

/** Changes of turns, each within the transaction of the post, append or claim that causes it. */
export class TurnChanges {
  readonly #tables: TurnTables;
  readonly #flows: FlowCharges;
  readonly #deadlines = new DeadlineClock();

  constructor(tables: TurnTables) {
    this.#tables = tables;
    this.#flows = new FlowCharges(tables);
  }

  /**
   * Changes a turn as a post, append or release asks; makes it when there is none.
   * @returns the turn; `undefined` when the patch ended it, or when there was none to end
   */
  patch(
    identity: Pick<Turn, 'ledger' | 'tenant' | 'app' | 'session'>,
    patch: TurnPatch,
    now: number,
  ): Turn | undefined {
    const found = this.#tables.turn(identity.ledger);
    if (patch.to === 'none') {
      if (found !== undefined) this.remove(found, now);
      return undefined;
    }
    // A change of a turn that has ended meanwhile makes no new one.
    if (found === undefined && patch.run === undefined && patch.to === undefined) return undefined;
    const turn = found ?? newTurn(identity, now);
    if (turn.place === 'ready') this.#flows.leave(turn);
    const flow = flowOf(turn);
    this.#set(turn, patch, now);
    this.#flows.move(turn, flow);
    this.#move(turn, patch, found === undefined, now);
    // A change of the key or the state may have set a place free.
    this.#fill(turn, now);
    return turn;
  }

  /** Applies the settings of a patch. */
  #set(turn: Turn, patch: TurnPatch, now: number): void {
    const { queue, level, requester, runnable, coalesceKey, run, estimateMs, attempts } = patch;
    turn.queue = queue ?? turn.queue;
    turn.level = level ?? turn.level;
    turn.requester = requester ?? turn.requester;
    turn.runnable = runnable ?? turn.runnable;
    turn.key = patch.key ?? turn.key;
    turn.rate = patch.rate ?? turn.rate;
    turn.coalesceKey = coalesceKey ?? turn.coalesceKey;
    turn.run = run ?? turn.run;
    turn.estimateMs = estimateMs ?? turn.estimateMs;
    turn.attempts = attempts ?? turn.attempts;
    turn.suspended = patch.suspended ?? turn.suspended;
    // One that was made for a session without a turn stays so, until a task is submitted for it.
    if (patch.run !== undefined) turn.isTransient = false;
    this.#deadlines.set(turn, patch, now);
  }

  /** Brings a changed turn to its place. It is counted in no flow when this begins. */
  #move(turn: Turn, { to, at, toFront }: TurnPatch, isNew: boolean, now: number): void {
    if (toFront === true) this.#toFront(turn);
    const next = to ?? (isNew ? 'ready' : undefined);
    if (next === 'ready' && (at ?? now) <= now) {
      const kept = turn.place === 'taken' || turn.place === 'ready' || turn.place === 'out';
      if (turn.place === 'taken') this.#giveBack(turn, now);
      this.enter(turn, kept ? turn.since : now, now);
    } else if (next !== undefined) this.rest(turn, at ?? null, now);
    else if (turn.place === 'ready' || turn.place === 'out' || turn.place === 'behind')
      this.enter(turn, turn.since, now);
    else this.#tables.save(turn);
  }

  /** Puts a turn before all turns of all levels of its queue. */
  #toFront(turn: Turn): void {
    turn.isFront = true;
    const wanted = { app: turn.app, tenant: undefined, names: undefined };
    const scores = [1, 2, 3, 4].flatMap((level) => {
      const oldest = this.#tables.oldestOfLevel({ ...turn, level }, wanted);
      return oldest === undefined ? [] : [oldest.since + level * levelMs];
    });
    const first = Math.min(...scores) - 1 - turn.level * levelMs;
    turn.since = Math.min(turn.since, first);
  }

  /** Makes a turn ready, or puts it behind others of its keys, or out while it is suspended. */
  enter(turn: Turn, since: number, now: number): void {
    turn.since = since;
    turn.readyAt = null;
    turn.awaitsRate = false;
    turn.place = 'resting';
    // It must not count among those that its keys let wait.
    if (turn.key !== undefined || turn.rate !== undefined) this.#tables.save(turn);
    this.#deadlines.run(turn, now);
    if (turn.suspended) turn.place = 'out';
    else if (this.#isBlocked(turn)) turn.place = 'behind';
    else {
      const rateAt = turn.rate === undefined ? now : this.#tables.rateAt(turn.app, turn.rate.name);
      if (rateAt > now) {
        turn.place = 'resting';
        turn.readyAt = rateAt;
        turn.awaitsRate = true;
      } else {
        turn.place = 'ready';
        this.#flows.enter(turn);
      }
    }
    this.#tables.save(turn);
  }

  /** Lets a turn rest until an instant, or until an item wakes it. */
  rest(turn: Turn, at: number | null, now: number): void {
    if (turn.place === 'taken') this.#giveBack(turn, now);
    this.#deadlines.pause(turn, now);
    turn.place = 'resting';
    turn.readyAt = at;
    turn.awaitsRate = false;
    this.#tables.save(turn);
  }

  /** Ends a turn. */
  remove(turn: Turn, now: number): void {
    if (turn.place === 'ready') this.#flows.leave(turn);
    if (turn.place === 'taken') this.#giveBack(turn, now);
    this.#tables.remove(turn.ledger);
    this.#fill(turn, now);
  }

  /**
   * Replaces a turn by the one that follows from its ledger. One that was made for a session
   * without a task follows from none, and stays.
   */
  replace(
    identity: Pick<Turn, 'ledger' | 'tenant' | 'app' | 'session'>,
    rebuilt: RebuiltTurn | null,
    now: number,
  ): void {
    const found = this.#tables.turn(identity.ledger);
    if (rebuilt === null) {
      if (found?.isTransient === false) this.remove(found, now);
      // Its row may have been lost: the session is found by what is due from now on.
      if (found === undefined) this.#tables.remove(identity.ledger);
      return;
    }
    const turn = found ?? newTurn(identity, now);
    if (turn.place === 'ready') this.#flows.leave(turn);
    this.#flows.correctLost(turn, now);
    turn.ticket = undefined;
    if (turn.place === 'taken') this.#giveBack(turn, now);
    const before = { ...turn };
    Object.assign(turn, rebuiltFields(turn, rebuilt));
    this.#seat(turn, rebuilt, now);
    this.#fill(before, now);
    if (rebuilt.toFront === true) this.patch(turn, { toFront: true }, now);
    this.#flows.recount(turn);
    this.#flows.recount(before);
  }

  /** Brings a rebuilt turn to its place; of its keys the oldest turns get the places. */
  #seat(turn: Turn, { rests }: RebuiltTurn, now: number): void {
    const { app, key, ledger, rate } = turn;
    this.#tables.save(turn);
    for (const other of [
      ...(key === undefined ? [] : this.#tables.readyOfKey(app, key.name)),
      ...(rate === undefined ? [] : this.#tables.nextTurnsOfRate(app, rate.name)),
    ]) {
      if (other.place === 'ready') this.#flows.leave(other);
      Object.assign(other, { place: 'behind', awaitsRate: false, readyAt: null });
      this.#tables.save(other);
    }
    if (rests !== undefined)
      this.rest(turn, rests === 'until_wake' ? this.#tables.wakeAt(ledger) : rests, now);
    else if (turn.suspended || turn.holds || (key === undefined && rate === undefined))
      this.enter(turn, turn.since, now);
    else {
      turn.place = 'behind';
      this.#tables.save(turn);
    }
    this.#fill(turn, now);
  }

  /** Marks a turn as taken: by a worker, or through another door that claims its session. */
  take(turn: Turn, now: number, ticket?: string, weight = 1): void {
    if (turn.place === 'ready') this.#flows.leave(turn);
    this.#deadlines.run(turn, now);
    turn.place = 'taken';
    turn.takenAt = now;
    turn.ticket = ticket;
    turn.readyAt = null;
    turn.awaitsRate = false;
    turn.controlAt = null;
    turn.isControl = false;
    turn.isFront = false;
    turn.coalesceKey = undefined;
    turn.holds = turn.key !== undefined;
    if (ticket !== undefined) this.#flows.charge(turn, weight);
    this.#passRate(turn, now);
    this.#tables.save(turn);
  }

  /** Takes a turn for control work alone: without a place of a key, and without a charge. */
  takeForControl(turn: Turn, now: number, ticket: string): void {
    if (turn.place === 'ready') this.#flows.leave(turn);
    turn.place = 'taken';
    turn.takenAt = now;
    turn.ticket = ticket;
    turn.controlAt = null;
    turn.isControl = true;
    turn.readyAt = null;
    turn.awaitsRate = false;
    this.#tables.save(turn);
    this.#fill(turn, now);
  }

  /**
   * Notes that a session was claimed through another door than `take`.
   * @throws KeyBusyError
   */
  claimed(ledger: number, now: number): void {
    const turn = this.#tables.turn(ledger);
    if (turn === undefined || turn.place === 'taken') return;
    const { app, session, key } = turn;
    if (
      key !== undefined &&
      !turn.holds &&
      this.#tables.placesOfKey(app, key.name).held >= key.limit
    )
      throw new KeyBusyError({ session, key: key.name, limit: key.limit });
    this.take(turn, now);
  }

  /** Notes an item in the inbox of a session. */
  posted(
    ledger: number,
    { isControl, wakes }: { readonly isControl: boolean; readonly wakes: boolean },
    now: number,
  ): void {
    const turn = this.#tables.turn(ledger);
    if (turn === undefined || turn.place === 'taken' || !wakes) return;
    if (isControl) turn.controlAt = Math.min(turn.controlAt ?? now, now);
    if (turn.place === 'resting' && !turn.awaitsRate) this.enter(turn, now, now);
    else this.#tables.save(turn);
  }

  /** Notes a new instant of a session that rests. */
  woken(ledger: number, at: number | null): void {
    const turn = this.#tables.turn(ledger);
    if (turn === undefined || turn.place !== 'resting' || turn.awaitsRate) return;
    turn.readyAt = at;
    this.#tables.save(turn);
  }

  /** Notes that a session was released: without a patch, its inbox and its instant decide. */
  released(
    identity: Pick<Turn, 'ledger' | 'tenant' | 'app' | 'session'>,
    patch: TurnPatch | undefined,
    now: number,
  ): void {
    const turn = this.#tables.turn(identity.ledger);
    if (patch !== undefined) this.patch(identity, patch, now);
    if (turn === undefined || patch?.to !== undefined) return;
    if (turn.place !== 'taken') return;
    if (this.#tables.isDue(turn.ledger, now)) {
      this.#giveBack(turn, now);
      this.enter(turn, turn.since, now);
    } else if (turn.isTransient) this.remove(turn, now);
    else this.rest(turn, this.#tables.wakeAt(turn.ledger), now);
    this.#fill(turn, now);
  }

  /** Makes turns ready whose instant has come, and those whose worker is gone. */
  promote(app: string, now: number, isGone: (owner: string) => boolean): void {
    for (const turn of this.#tables.due(app, now, mostPromoted)) {
      const since = turn.awaitsRate ? turn.since : (turn.readyAt ?? now);
      this.enter(turn, since, now);
      // A suspended turn leaves the next instant of its rate key to others.
      if (turn.place === 'out') this.#fill(turn, now);
    }
    for (const turn of this.#tables.lost(app, now, isGone)) {
      this.#flows.correctLost(turn, now);
      turn.ticket = undefined;
      // Control work that it had not done is due again.
      if (turn.isControl) turn.controlAt = now;
      this.#giveBack(turn, now);
      this.enter(turn, turn.since, now);
      this.#fill(turn, now);
    }
  }

  /** Corrects the charge by the time really worked, and leaves the place of the key. */
  #giveBack(turn: Turn, now: number): void {
    this.#flows.correct(turn, now);
    turn.ticket = undefined;
    turn.isControl = false;
    if (turn.key?.hold !== 'task') turn.holds = false;
    turn.place = 'resting';
  }

  /** True when no place of the turn's concurrency or rate key is free. */
  #isBlocked(turn: Turn): boolean {
    const { app, key, rate } = turn;
    if (key !== undefined && !turn.holds) {
      const { held, ready } = this.#tables.placesOfKey(app, key.name);
      if (held + ready >= key.limit) return true;
    }
    return rate !== undefined && this.#tables.nextOfRate(app, rate.name) > 0;
  }

  /** Moves the rate key on when a turn of it is taken. */
  #passRate(turn: Turn, now: number): void {
    const { app, rate } = turn;
    if (rate === undefined) return;
    const at = Math.max(now, this.#tables.rateAt(app, rate.name));
    this.#tables.saveRateAt(app, rate.name, at + rate.perMs / rate.limit);
    // Saved before the next one is looked for, which must not find this one.
    this.#tables.save(turn);
    this.#fillRate(turn, now);
  }

  /**
   * Makes the oldest turns ready that were behind the keys of a turn, as far as places are free.
   */
  #fill(turn: Turn, now: number): void {
    const { app, key } = turn;
    if (key !== undefined)
      for (;;) {
        const next = this.#tables.oldestBehindKey(app, key.name);
        if (next === undefined) break;
        this.enter(next, next.since, now);
        if (next.place === 'behind') break;
      }
    this.#fillRate(turn, now);
  }

  #fillRate({ app, rate }: Turn, now: number): void {
    if (rate === undefined || this.#tables.nextOfRate(app, rate.name) > 0) return;
    const next = this.#tables.oldestBehindRate(app, rate.name);
    if (next !== undefined) this.enter(next, next.since, now);
  }
}

/** Number of resting turns that one call makes ready. */
const mostPromoted = 1_000;
