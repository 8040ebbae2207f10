import type {
  ShareWeights,
  Taken,
  TakeOptions,
  TakeReceipt,
  TurnScope,
} from '../../ledger/port.ts';
import { newTurn, type Turn, turnRow } from './turn.ts';
import { levelMs, TurnChanges } from './turn-changes.ts';
import type { LevelName, TurnsWanted, TurnTables } from './turn-tables.ts';

/** Every so many turns of a level, its oldest turn is taken whatever its flow. */
const oldestEvery = 32;
/** Number of turns that one call takes for control work. */
const mostControl = 64;
const fairLevels = [1, 2, 3, 4];

/** Options of a call with their defaults. */
interface Asked extends TurnsWanted {
  readonly options: TakeOptions;
  readonly queues: readonly string[];
  readonly levels: ReadonlySet<number>;
}

/** Chooser of the turns that may run now. `take` and its explanation use the same. */
export class TurnOrder {
  readonly #tables: TurnTables;
  readonly #changes: TurnChanges;
  readonly #isGone: (owner: string) => boolean;

  /** @param isGone true for an owner whose process is known to have ended */
  constructor(tables: TurnTables, isGone: (owner: string) => boolean) {
    this.#tables = tables;
    this.#changes = new TurnChanges(tables);
    this.#isGone = isGone;
  }

  take(options: TakeOptions, now: number): TakeReceipt {
    const { app, ticket } = options;
    const asked = askedBy(options);
    const repeated = this.#tables
      .takenWith(app, ticket)
      .filter((turn) => this.#isOwn(turn, options.owner));
    if (repeated.length > 0)
      return { taken: repeated.map((turn) => this.#again(turn)), nextAt: null, now };
    this.#changes.promote(app, now, this.#isGone);
    if (asked.queues.includes('default')) this.#addDue(asked, now);
    const taken = [...this.#takeControl(asked, now), ...this.#takeRealtime(asked, now)];
    const free = options.slots - Math.max(0, this.#realtimeBeyond(taken, options));
    for (let left = free; left > 0; left--) {
      const next = this.#next(asked, now);
      if (next === undefined) break;
      taken.push(this.#claim(next, options, now));
    }
    return { taken, nextAt: this.#tables.nextReadyAt(app), now };
  }

  /**
   * Counts the turns that are taken before another one, by taking them. To be called on tables
   * whose changes are forgotten.
   * @returns `undefined` when there are more than `most`
   */
  countBefore(
    ledger: number,
    {
      options,
      most,
      now,
    }: {
      readonly options: TurnScope & { readonly app: string };
      readonly most: number;
      readonly now: number;
    },
  ): number | undefined {
    const nobody = { owner: '', ticket: '', ttlMs: 0, slots: 0 };
    const asked = askedBy({ ...options, ...nobody });
    for (let count = 0; count <= most; count++) {
      const next = this.#oldest(asked, 0, now) ?? this.#next(asked, now);
      if (next === undefined) return undefined;
      if (next.ledger === ledger) return count;
      this.#changes.take(next, now, 'counted', weightOf(next, options.weights));
    }
    return undefined;
  }

  /** Sessions without a turn get one for as long as they are worked on. */
  #addDue({ app, tenant, options }: Asked, now: number): void {
    const limit = options.slots + (options.realtimeSlots ?? 0) + mostControl;
    for (const { since, ...identity } of this.#tables.dueWithoutTurn(app, tenant, now, limit)) {
      const turn = newTurn(identity, now);
      turn.isTransient = true;
      this.#changes.enter(turn, since, now);
    }
  }

  #takeControl(asked: Asked, now: number): Taken[] {
    return this.#tables
      .controlDue(asked, now, mostControl)
      .filter((turn) => !this.#isHeld(turn, now))
      .map((turn) => {
        const { options } = asked;
        this.#changes.takeForControl(turn, now, options.ticket);
        return this.#takenOf(turn, options, now, true);
      });
  }

  #takeRealtime(asked: Asked, now: number): Taken[] {
    const { options } = asked;
    const taken: Taken[] = [];
    if (!asked.levels.has(0)) return taken;
    const most = options.slots + (options.realtimeSlots ?? 0);
    while (taken.length < most) {
      const next = this.#oldest(asked, 0, now);
      if (next === undefined) break;
      taken.push(this.#claim(next, options, now));
    }
    return taken;
  }

  /** Number of realtime turns that did not fit into their own places. */
  #realtimeBeyond(taken: readonly Taken[], { realtimeSlots = 0 }: TakeOptions): number {
    return (
      taken.filter(({ turn, isControl }) => turn.level === 0 && !isControl).length - realtimeSlots
    );
  }

  #oldest(asked: Asked, level: number, now: number): Turn | undefined {
    const found = this.#openQueues(asked).flatMap((queue) => {
      const turn = this.#free({ app: asked.app, queue, level }, asked, now, (name) =>
        this.#tables.oldestOfLevel(name, asked),
      );
      return turn === undefined ? [] : [turn];
    });
    return found.sort((left, right) => left.since - right.since)[0];
  }

  /** The turn that is next by level, flow and age. */
  #next(asked: Asked, now: number): Turn | undefined {
    let best:
      | { readonly level: LevelName; readonly oldest: Turn; readonly score: number }
      | undefined;
    for (const queue of this.#openQueues(asked))
      for (const level of fairLevels) {
        if (!asked.levels.has(level)) continue;
        const name = { app: asked.app, queue, level };
        const oldest = this.#free(name, asked, now, (of) => this.#tables.oldestOfLevel(of, asked));
        const score = (oldest?.since ?? 0) + level * levelMs;
        if (oldest !== undefined && (best === undefined || score < best.score))
          best = { level: name, oldest, score };
      }
    if (best === undefined) return undefined;
    const isTurnOfOldest = this.#tables.countPick(best.level) % oldestEvery === 0;
    if (isTurnOfOldest || best.oldest.isFront) return best.oldest;
    return this.#free(best.level, asked, now, (level) => this.#ofLeastFlow(level, asked));
  }

  #ofLeastFlow(level: LevelName, asked: Asked): Turn | undefined {
    for (const flow of this.#tables.busyFlows(level, asked.tenant)) {
      const turn = this.#tables.oldestOfFlow(flow, asked);
      if (turn !== undefined) return turn;
    }
    return undefined;
  }

  /**
   * Finds a turn whose session nobody has. One that somebody has rests until that lease is over.
   */
  #free(
    level: LevelName,
    _asked: Asked,
    now: number,
    find: (level: LevelName) => Turn | undefined,
  ): Turn | undefined {
    for (;;) {
      const turn = find(level);
      if (turn === undefined || !this.#isHeld(turn, now)) return turn;
      const until = this.#tables.lease(turn.ledger)?.until ?? now;
      this.#changes.patch(turn, { to: 'resting', at: until }, now);
    }
  }

  /** Queues in which all workers together may take another turn. */
  #openQueues({ app, queues, options: { queueLimits = {} } }: Asked): readonly string[] {
    return queues.filter(
      (queue) =>
        !Object.hasOwn(queueLimits, queue) ||
        this.#tables.working(app, queue) < (queueLimits[queue] ?? 0),
    );
  }

  #claim(turn: Turn, options: TakeOptions, now: number): Taken {
    this.#changes.take(turn, now, options.ticket, weightOf(turn, options.weights));
    return this.#takenOf(turn, options, now, false);
  }

  #takenOf(turn: Turn, { owner, ttlMs }: TakeOptions, now: number, isControl: boolean): Taken {
    const epoch = this.#tables.claim(turn.ledger, owner, ttlMs, now);
    const { tenant, session } = turn;
    return { tenant, session, epoch, until: now + ttlMs, turn: turnRow(turn), isControl };
  }

  #again(turn: Turn): Taken {
    const { tenant, session, ledger, isControl } = turn;
    const { until = 0, epoch = 0 } = this.#tables.lease(ledger) ?? {};
    return { tenant, session, epoch, until, turn: turnRow(turn), isControl };
  }

  #isOwn({ ledger }: Turn, owner: string): boolean {
    return this.#tables.lease(ledger)?.owner === owner;
  }

  #isHeld({ ledger }: Turn, now: number): boolean {
    const lease = this.#tables.lease(ledger);
    return lease !== undefined && lease.until > now && !this.#isGone(lease.owner);
  }
}

function askedBy(options: TakeOptions): Asked {
  const { app, tenant, names, queues = ['default'], levels = [0, ...fairLevels] } = options;
  return { options, app, tenant, names, queues: [...new Set(queues)], levels: new Set(levels) };
}

/** Weight of a turn's flow, by its tenant and its requester. */
function weightOf({ tenant, requester }: Turn, weights: ShareWeights = {}): number {
  return weightIn(weights.tenants, tenant) * weightIn(weights.requesters, requester);
}

function weightIn(weights: Readonly<Record<string, number>> = {}, name: string): number {
  return Object.hasOwn(weights, name) ? (weights[name] ?? 1) : 1;
}
