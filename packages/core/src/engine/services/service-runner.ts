import type { Clock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { Host } from '../../base/host.ts';
import type { JsonObject } from '../../base/json.ts';
import { decision, isDecision } from '../../ledger/decisions/decision.ts';
import type { LedgerPorts } from '../../ledger/ledger-ports.ts';
import { openLedger } from '../../ledger/open-ledger.ts';
import { nextSession, serviceKind, serviceTurn } from '../../ledger/port/service-sessions.ts';
import type { ListedRow, Send, Taken, TakeReceipt, TurnPatch } from '../../ledger/port.ts';
import { keepLease } from '../run/lease.ts';
import type { BegunState, Service } from './service.ts';
import { ServiceSession } from './service-session.ts';

/** Events after which a session of a service is followed by a new one. */
const defaultRollAfter = 1_000;
/**
 * Sessions of one service that a process works on at the same time, but for those that are taken
 * together. Each service has places of its own: channels that are slow must not hold back triggers.
 */
const mostAtOnce = 20;
/** Pause in milliseconds before a session that failed is tried again, at first and at most. */
const firstPauseMs = 1_000;
export const longestPauseMs = 600_000;

export interface ServiceRunnerParts {
  readonly services: readonly Service[];
  readonly clock: Clock;
  readonly host: Host;
  readonly rollAfter?: number | undefined;
  /** Chooses sessions of services that have something to do, and claims them. */
  readonly take: (request: {
    readonly tenant: string | undefined;
    readonly names: readonly string[];
    readonly slots: number;
  }) => Promise<TakeReceipt>;
  readonly ledgerPorts: (tenant: string) => LedgerPorts;
  readonly giveBack: (taken: Taken, at: number) => Promise<unknown>;
  /** Called with an instant at which a session is to be looked at. */
  readonly wakeAt: (at: number, of?: ServicePlace) => void;
  /** Called when more may be due than was taken. */
  readonly lookAgain: () => void;
  readonly warn: (what: string, error: unknown) => void;
}

/** A session of a service. */
export type ServicePlace = Pick<Taken, 'tenant' | 'session'>;

/** Work on one session. */
interface Work {
  readonly tenant: string;
  /** Name of the turn. */
  readonly runnable: string;
  readonly service: Service | undefined;
  readonly controller: AbortController;
}

/** Sessions that were taken at once: their number, and the end of the work on them. */
interface Look {
  readonly count: number;
  readonly done: Promise<unknown>;
}

/** Worker on the sessions of services, which have places of their own. */
export class ServiceRunner {
  readonly #parts: ServiceRunnerParts;
  readonly #working = new Map<Promise<void>, Work>();
  readonly #failures = new Map<string, number>();
  /** Resolves when the work on all that was taken so far has begun. */
  #taken: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(parts: ServiceRunnerParts) {
    this.#parts = parts;
  }

  /**
   * Takes what is due, and works on it in the background.
   * @param only name of the turns that are taken. @default all that this process can work on
   * @throws StoreUnavailableError
   */
  look(tenant?: string, only?: string): Promise<Look> {
    // One after another: what is taken is known as work before the next look.
    const look = this.#taken.then(() => this.#look(tenant, only));
    this.#taken = look.catch(() => undefined);
    return look;
  }

  async #look(tenant: string | undefined, only: string | undefined): Promise<Look> {
    const { lookAgain, services, take, wakeAt } = this.#parts;
    // A caller waits for those of one name: they need no free place.
    const able = services.filter((one) => only !== undefined || !this.#isFull(one));
    const known = able.flatMap((one) => one.names());
    const names = only === undefined ? known : known.filter((name) => name === only);
    if (this.#isStopped || names.length === 0) return { count: 0, done: Promise.resolve() };
    const { nextAt, taken } = await take({ tenant, names, slots: mostAtOnce });
    if (nextAt !== null) wakeAt(nextAt);
    if (taken.length === mostAtOnce) lookAgain();
    return { count: taken.length, done: Promise.all(taken.map((one) => this.#begin(one))) };
  }

  /**
   * Resolves when the work under way on the sessions of one name has ended.
   * @returns false when there was none
   */
  async awaited(tenant: string, runnable: string): Promise<boolean> {
    const found = [...this.#working].filter(
      ([, work]) => work.tenant === tenant && work.runnable === runnable,
    );
    await Promise.all(found.map(([end]) => end));
    return found.length > 0;
  }

  /** Resolves when no session is worked on. */
  async settled(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working.keys());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { controller } of this.#working.values()) controller.abort();
    await this.settled();
  }

  #isFull(service: Service | undefined): boolean {
    const working = [...this.#working.values()].filter((work) => work.service === service);
    return working.length >= mostAtOnce;
  }

  #begin(taken: Taken): Promise<void> {
    const controller = new AbortController();
    const { services } = this.#parts;
    const service = services.find((one) => one.names().includes(taken.turn.runnable));
    const work = this.#carry(taken, service, controller).then(
      () => void this.#failures.delete(taken.session),
      (error: unknown) => this.#failed(taken, error),
    );
    const { tenant, turn } = taken;
    this.#working.set(work, { tenant, runnable: turn.runnable, service, controller });
    void work.then(() => {
      // Nothing of this service was taken while it had no place.
      const wasFull = this.#isFull(service);
      this.#working.delete(work);
      if (wasFull) this.#parts.lookAgain();
    });
    return work;
  }

  /** Works on a session, which is given back until later when that fails. */
  async #carry(
    taken: Taken,
    service: Service | undefined,
    controller: AbortController,
  ): Promise<void> {
    const { clock, giveBack, wakeAt } = this.#parts;
    if (service === undefined || this.#isStopped) {
      await giveBack(taken, clock.now());
      return;
    }
    let { epoch } = taken;
    try {
      const ledger = await openLedger(taken.session, this.#parts.ledgerPorts(taken.tenant));
      const claim = await ledger.lease.own();
      epoch = claim.epoch;
      const session = new ServiceSession(taken, ledger, { claim, signal: controller.signal });
      const at = await this.#hold(service, session, controller);
      if (at !== null) wakeAt(at, { tenant: taken.tenant, session: taken.session });
    } catch (error) {
      // With its claim: a session that failed is not taken again at once.
      await giveBack({ ...taken, epoch }, this.#pausedUntil(taken)).catch(() => undefined);
      throw error;
    }
  }

  /** Works on a session while its lease is kept. */
  async #hold(
    service: Service,
    session: ServiceSession,
    controller: AbortController,
  ): Promise<number | null> {
    const { ledger } = session;
    ledger.onFailure(() => controller.abort());
    const endLease = keepLease(ledger, this.#parts.clock);
    try {
      return await this.#work(service, session);
    } finally {
      endLease();
    }
  }

  /** Works until nothing is left to do, and releases the session until a later instant. */
  async #work(service: Service, session: ServiceSession): Promise<number | null> {
    const { ledger } = session;
    let { inboxSeq } = ledger.lease;
    for (;;) {
      const at = await this.#step(service, session);
      const { runnable } = session;
      // All that has come meanwhile is up to others.
      if (session.signal.aborted) {
        await ledger.release({ turn: { runnable, to: 'ready' } });
        return at;
      }
      const rest = at === null ? {} : { at };
      const turn: TurnPatch = { runnable, to: 'resting', ...rest };
      const release = await ledger.release({ inboxSeq, turn });
      if (release.released) return at;
      inboxSeq = release.inboxSeq;
    }
  }

  /** Does what is to be done, in the session that is the newest of its service. */
  async #step(service: Service, session: ServiceSession): Promise<number | null> {
    await begin(session);
    const next = rolledTo(session);
    if (next !== undefined) {
      await forward(session, next);
      return null;
    }
    const at = await service.advance(session);
    const { rollAfter = defaultRollAfter } = this.#parts;
    if (session.ledger.lastSeq < rollAfter || session.signal.aborted) return at;
    const rolled = service.rolled(session);
    if (rolled === undefined) return at;
    await roll(session, service.kind, rolled);
    return null;
  }

  #pausedUntil({ session }: Taken): number {
    const times = this.#failures.get(session) ?? 0;
    return this.#parts.clock.now() + Math.min(firstPauseMs * 2 ** times, longestPauseMs);
  }

  #failed(taken: Taken, error: unknown): void {
    const isElsewhere = ['session_busy', 'ledger_conflict', 'session_not_found'].some((code) =>
      isAdjutantError(error, code),
    );
    if (isElsewhere || this.#isStopped) return;
    this.#parts.wakeAt(this.#pausedUntil(taken));
    const { session } = taken;
    const times = this.#failures.get(session) ?? 0;
    this.#failures.set(session, times + 1);
    if (times === 0) this.#parts.warn(`"${session}" could not be continued`, error);
  }
}

/** Takes over the state of the session that this one goes on for. */
async function begin(session: ServiceSession): Promise<void> {
  if (session.ledger.lastSeq > 0) return;
  const [first] = await session.inbox();
  if (first?.type !== 'service' || first.data['command'] !== 'begin') return;
  const { from, name, state } = first.data as unknown as BegunState;
  const reasoning = `This session goes on where "${from}" has ended.`;
  await session.append({
    drafts: [decision('service', 'begin', { reasoning, data: { from, name, state } })],
    consumes: [first],
  });
}

/** Session that goes on for this one; `undefined` when it is the newest. */
export function rolledTo({ ledger }: Pick<ServiceSession, 'ledger'>): string | undefined {
  const last = ledger.events.findLast((event) => isDecision(event, 'service', 'roll'));
  return isDecision(last, 'service', 'roll') ? last.data?.next : undefined;
}

/** Passes the items of a session that has rolled on to the next one. */
async function forward(session: ServiceSession, next: string): Promise<void> {
  const entries = await session.inbox();
  if (entries.length === 0) return;
  const sends = entries.map(
    ({ position: _, ...item }): Send => ({ to: next, item, ...wakeOf(session) }),
  );
  await session.append({ consumes: entries, sends });
}

function wakeOf({ name, runnable }: ServiceSession): Pick<Send, 'turn'> {
  return { turn: serviceTurn(runnable, name) };
}

/** Ends a session with the state that the next one begins with. */
async function roll(session: ServiceSession, kind: string, state: JsonObject): Promise<void> {
  const { name } = session;
  const next = nextSession(session.id);
  const at = session.now();
  const events = session.ledger.lastSeq;
  await session.append({
    drafts: [
      decision('service', 'roll', {
        reasoning: `The session has ${events} events; "${next}" goes on with its state.`,
        data: { next },
      }),
    ],
    sends: [
      {
        to: next,
        open: true,
        turn: serviceTurn(session.runnable, name),
        rows: [serviceRow(kind, name, next, at)],
        item: {
          key: `roll:${session.id}`,
          lane: 'input',
          by: 'runtime',
          at,
          type: 'service',
          data: { command: 'begin', from: session.id, name, state },
        },
      },
    ],
  });
}

/** The row by which the newest session of a service is found. */
export function serviceRow(kind: string, name: string, session: string, at: number): ListedRow {
  return { kind: serviceKind, id: `${kind}:${name}`, status: 'open', at, body: { session } };
}
