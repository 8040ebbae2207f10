import type { StandInToolCall } from '../../effects/stand-ins.ts';
import type { Event } from '../../ledger/event.ts';
import { isBelow } from '../../ledger/path.ts';
import type { Claim, LedgerStore, Store } from '../../ledger/port.ts';
import { checkLanding } from './landing-checks.ts';
import type { BrokenRule, WatchedLedger } from './watched-ledger.ts';
import type { World } from './world.ts';

/**
 * Watches what the store takes, at the moment it takes it, and what acts outside. It breaks off the
 * simulation at the first broken rule.
 */
export class Watch {
  readonly ledgers = new Map<string, WatchedLedger>();
  readonly broken: BrokenRule[] = [];
  /** Keys of posts that the store has taken, with the sessions. */
  readonly posted = new Map<string, string>();
  readonly #world: World;
  readonly #executions = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  report(rule: string, detail: string): void {
    this.#world.note(`BROKEN ${rule}: ${detail}`);
    this.broken.push({ rule, detail });
  }

  /** The events of a session so far. */
  eventsOf(session: string): readonly Event[] {
    return this.#find(session)?.events ?? [];
  }

  #find(session: string): WatchedLedger | undefined {
    return [...this.ledgers.values()].find((ledger) => ledger.session === session);
  }

  /** Watches a store. The processes of a simulation call it over their network. */
  over(store: Store): Store {
    const made = new Map<string, LedgerStore>();
    return {
      ...store,
      for: (scope) => {
        const key = JSON.stringify([scope.tenant, scope.app]);
        const ledgers = made.get(key) ?? this.#over(store.for(scope), scope.tenant);
        made.set(key, ledgers);
        return ledgers;
      },
    };
  }

  #over(inner: LedgerStore, tenant: string): LedgerStore {
    const watch = this;
    return new Proxy(inner, {
      get(target, name: keyof LedgerStore) {
        const method = target[name] as unknown;
        if (typeof method !== 'function') return method;
        if (name === 'append') return watch.#append(target, tenant);
        if (name === 'claim') return watch.#claim(target, tenant);
        if (name === 'post') return watch.#post(target);
        if (name === 'delete') return watch.#delete(target, tenant);
        return method.bind(target) as unknown;
      },
    });
  }

  #append(inner: LedgerStore, tenant: string): LedgerStore['append'] {
    return async (session, expected, batch) => {
      const receipt = await inner.append(session, expected, batch);
      const ledger = this.#ledger(tenant, session);
      if (expected.epoch !== ledger.epoch)
        this.report('one_writer', `${session}: epoch ${expected.epoch} wrote after another`);
      for (const event of batch.events) this.#landed(ledger, event);
      return receipt;
    };
  }

  #landed(ledger: WatchedLedger, event: Event): void {
    const { events, session } = ledger;
    const known = events[event.seq - 1];
    if (known === undefined) {
      if (event.seq !== events.length + 1)
        this.report('no_gaps', `${session}: event ${event.seq} after ${events.length}`);
      checkLanding(ledger, event, this.#world.now, (rule, detail) => this.report(rule, detail));
      events.push(event);
    } else if (known.id !== event.id)
      this.report('append_only', `${session}: event ${event.seq} was written twice`);
  }

  #claim(inner: LedgerStore, tenant: string): LedgerStore['claim'] {
    return async (session, owner, options): Promise<Claim> => {
      const claim = await inner.claim(session, owner, options);
      const ledger = this.#ledger(tenant, session);
      if (claim.epoch <= ledger.epoch)
        this.report('one_writer', `${session}: epoch ${claim.epoch} was claimed twice`);
      ledger.epoch = claim.epoch;
      ledger.owner = owner;
      return claim;
    };
  }

  #post(inner: LedgerStore): LedgerStore['post'] {
    return async (session, item) => {
      const receipt = await inner.post(session, item);
      if (!receipt.duplicate) this.posted.set(item.key, session);
      return receipt;
    };
  }

  #delete(inner: LedgerStore, tenant: string): LedgerStore['delete'] {
    return async (session, options) => {
      await inner.delete(session, options);
      this.ledgers.delete(JSON.stringify([tenant, session]));
    };
  }

  #ledger(tenant: string, session: string): WatchedLedger {
    const key = JSON.stringify([tenant, session]);
    const ledger = this.ledgers.get(key) ?? {
      tenant,
      session,
      events: [],
      epoch: 0,
      owner: undefined,
    };
    this.ledgers.set(key, ledger);
    return ledger;
  }

  /** Checks that a tool may begin: its attempt is durable, its process owns the session. */
  entered({ session, callId, attempt, epoch, recovery }: StandInToolCall): void {
    const ledger = this.#find(session);
    if (ledger === undefined) return;
    const { events } = ledger;
    const recorded = events.some(
      (event) =>
        event.type === 'tool_attempt' && event.callId === callId && event.attempt === attempt,
    );
    if (!recorded && recovery !== 'rerun')
      this.report('attempt_before_effect', `${session}: ${callId} attempt ${attempt}`);
    if (epoch !== ledger.epoch)
      this.report('owner_acts', `${session}: ${callId} in epoch ${epoch}, now ${ledger.epoch}`);
    const key = `${session} ${callId} ${attempt}`;
    const count = (this.#executions.get(key) ?? 0) + 1;
    this.#executions.set(key, count);
    // A call with children is continued by running its body again.
    const isReentrant = events.some(
      ({ invocationId }) => invocationId !== undefined && isBelow(invocationId, callId),
    );
    if (count > 1 && recovery !== 'rerun' && !isReentrant)
      this.report('effect_once', `${session}: ${callId} attempt ${attempt} began ${count} times`);
  }
}
