import { isAdjutantError, toErrorRecord } from '../../base/error.ts';
import { type ExecutionMessage, executionChannel } from '../../effects/execution-channel.ts';
import { defaultLeaseMs } from '../../engine/app/runtime-options.ts';
import type { Actor, Event } from '../../ledger/event.ts';
import type {
  Batch,
  Claim,
  InboxEntry,
  LedgerStore,
  Store,
  TakeOptions,
  TakeReceipt,
} from '../../ledger/port.ts';
import { PostedControls } from './control-checks.ts';
import { checkExecution } from './execution-checks.ts';
import { checkLanding } from './landing-checks.ts';
import { MachineProcess } from './machine.ts';
import { isGoingOn } from './open-paths.ts';
import type { SimulationRule } from './report/simulation-rules.ts';
import { type BrokenRule, newLedger, type WatchedLedger } from './watched-ledger.ts';
import type { World } from './world.ts';

/**
 * Watches what the store takes, at the moment it takes it, and what acts outside. It breaks off the
 * simulation at the first broken rule.
 */
export class Watch {
  readonly ledgers = new Map<string, WatchedLedger>();
  readonly broken: BrokenRule[] = [];
  /** Times of the items that the store has taken, as their processes dated them, by key. */
  readonly datedAt = new Map<string, number>();
  readonly #world: World;
  readonly #executions = new Map<string, number>();
  /** Places in the inbox of answers that were posted, by the session and the request. */
  readonly #answers = new Map<string, number>();
  readonly #controls = new PostedControls();
  readonly #processes = new Map<string, MachineProcess>();

  constructor(world: World) {
    this.#world = world;
  }

  report(rule: SimulationRule, detail: string): void {
    this.#broken({ rule, detail });
  }

  /** Reports a rule that code of the app has broken by an error. */
  reportError(rule: SimulationRule, cause: unknown, about = ''): void {
    const { code, message, name } = toErrorRecord(cause, '');
    this.#broken({ rule, detail: `${about}${code || name}: ${message}`, cause });
  }

  #broken(broken: BrokenRule): void {
    this.#world.note(`BROKEN ${broken.rule}: ${broken.detail}`);
    this.broken.push(broken);
    this.#world.breakOff();
  }

  /** The events of a session so far. */
  eventsOf(session: string): readonly Event[] {
    return this.find(session)?.events ?? [];
  }

  /** The ledger of a session. */
  find(session: string): WatchedLedger | undefined {
    for (const ledger of this.ledgers.values()) if (ledger.session === session) return ledger;
    return undefined;
  }

  /** Watches a store. The processes of a simulation call it over their network. */
  over(store: Store): Store {
    const made = new Map<string, LedgerStore>();
    return {
      ...store,
      admin: { ...store.admin, take: (options) => this.#take(store, options) },
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
        if (name === 'post') return watch.#post(target, tenant);
        if (name === 'renew') return watch.#renew(target, tenant);
        if (name === 'release') return watch.#release(target, tenant);
        if (name === 'settle') return watch.#settle(target, tenant);
        if (name === 'delete') return watch.#delete(target, tenant);
        return method.bind(target) as unknown;
      },
    });
  }

  #append(inner: LedgerStore, tenant: string): LedgerStore['append'] {
    return async (session, expected, batch) => {
      const ledger = this.#ledger(tenant, session);
      const receipt = await inner.append(session, expected, batch).catch((error: unknown) => {
        // Nobody else has written: the writer is refused because of what it wrote itself.
        if (expected.epoch === ledger.epoch && isAdjutantError(error, 'ledger_conflict'))
          this.report('append_known', `${session}: an append after ${expected.seq} is refused`);
        throw error;
      });
      ledger.contactAt = this.#world.elapsed;
      if (expected.epoch !== ledger.epoch)
        this.report('one_writer', `${session}: epoch ${expected.epoch} wrote after another`);
      for (const event of batch.events) this.#landed(ledger, event, batch);
      this.#controls.checkTaken(session, batch, (rule, detail) => this.report(rule, detail));
      if (batch.events.some(({ type }) => type === 'invocation_end'))
        await this.#checkPending(inner, ledger);
      return receipt;
    };
  }

  #landed(ledger: WatchedLedger, event: Event, { consumes = [] }: Batch): void {
    const { events, session } = ledger;
    const known = events[event.seq - 1];
    if (known === undefined) {
      if (event.seq !== events.length + 1)
        this.report('no_gaps', `${session}: event ${event.seq} after ${events.length}`);
      checkLanding(ledger, event, this.#world.now, (rule, detail) => this.report(rule, detail));
      const answer =
        event.type === 'tool_input'
          ? this.#answers.get(JSON.stringify([session, event.requestId]))
          : undefined;
      if (answer !== undefined && event.by !== 'runtime' && !consumes.includes(answer))
        this.report('item_with_event', `${session}: event ${event.seq} leaves its item behind`);
      events.push(event);
      ledger.landedAt.push(this.#world.elapsed);
      ledger.epochs.push(ledger.epoch);
    } else if (known.id !== event.id)
      this.report('append_only', `${session}: event ${event.seq} was written twice`);
  }

  #claim(inner: LedgerStore, tenant: string): LedgerStore['claim'] {
    return async (session, owner, options): Promise<Claim> => {
      const claim = await inner.claim(session, owner, options);
      this.#claimed(tenant, session, owner, claim.epoch);
      return claim;
    };
  }

  /** Notes the claims of a call of `take`; the same ticket again claims nothing new. */
  async #take(store: Store, options: TakeOptions): Promise<TakeReceipt> {
    const receipt = await store.admin.take(options);
    for (const { epoch, session, tenant } of receipt.taken)
      if (epoch !== this.#ledger(tenant, session).epoch)
        this.#claimed(tenant, session, options.owner, epoch);
    return receipt;
  }

  #claimed(tenant: string, session: string, owner: string, epoch: number): void {
    const ledger = this.#ledger(tenant, session);
    this.#checkTakeover(ledger, owner);
    if (epoch <= ledger.epoch)
      this.report('one_writer', `${session}: epoch ${epoch} was claimed twice`);
    ledger.epoch = epoch;
    ledger.owner = owner;
    ledger.contactAt = this.#world.elapsed;
  }

  #renew(inner: LedgerStore, tenant: string): LedgerStore['renew'] {
    return async (claim) => {
      const receipt = await inner.renew(claim);
      this.#ledger(tenant, claim.session).contactAt = this.#world.elapsed;
      return receipt;
    };
  }

  #release(inner: LedgerStore, tenant: string): LedgerStore['release'] {
    return async (claim, options) => {
      const receipt = await inner.release(claim, options);
      const ledger = this.#ledger(tenant, claim.session);
      if (receipt.released && claim.epoch === ledger.epoch) ledger.owner = undefined;
      return receipt;
    };
  }

  #post(inner: LedgerStore, tenant: string): LedgerStore['post'] {
    return async (session, item, options) => {
      const receipt = await inner.post(session, item, options);
      if (receipt.duplicate) return receipt;
      this.datedAt.set(item.key, item.at);
      if (item.settles !== undefined)
        this.#answers.set(JSON.stringify([session, item.settles]), receipt.inboxSeq);
      this.#controls.posted(session, item, receipt.inboxSeq);
      const { events } = this.#ledger(tenant, session);
      const asked = events.find(
        (event) => event.type === 'tool_yield' && event.requestId === item.settles,
      );
      const left =
        asked?.type === 'tool_yield' ? (asked.expiresAt ?? this.#world.now) - this.#world.now : 0;
      // Store and watch may see two sides of one millisecond.
      if (left < -1) this.report('answer_in_time', `${session}: ${item.key} is ${-left} ms late`);
      return receipt;
    };
  }

  /** Checks that a living owner that could reach the store has not lost its session. */
  #checkTakeover({ contactAt, owner: before, session }: WatchedLedger, owner: string): void {
    const process = this.#processes.get(before ?? '');
    if (process === undefined || process.isDead || before === owner) return;
    if (process.troubledAt > contactAt - defaultLeaseMs) return;
    this.report('lease_kept', `${session}: ${owner} took it over from ${before}`);
  }

  /** Checks that the requests of what has ended are settled in the append of its end. */
  async #checkPending(inner: LedgerStore, { events, session }: WatchedLedger): Promise<void> {
    const pending = await inner.requests({ session, status: 'pending' });
    for (const { callId, invocationId } of pending)
      if (!isGoingOn(events, invocationId))
        this.report('request_owned', `${session}: ${callId} waits for nobody`);
  }

  /**
   * Requests are settled by the append of what settles them, or by the post of their answer. Two
   * are settled first, because they must not be recorded when an answer came before them: an
   * expiry, and a message that is an answer and stays in the inbox until then.
   */
  #settle(inner: LedgerStore, tenant: string): LedgerStore['settle'] {
    return async (session, settlement) => {
      await inner.settle(session, settlement);
      const { by, requestId, status } = settlement;
      if (status === 'answered' && (await inner.inbox(session)).some((item) => isMessage(item, by)))
        return;
      const { events } = this.#ledger(tenant, session);
      const isRecorded = events.some(
        (event) => event.type === 'tool_input' && event.requestId === requestId,
      );
      if (status !== 'expired' && !isRecorded)
        this.report('settled_with_event', `${session}: ${requestId} is ${status} in no event`);
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
    const ledger = this.ledgers.get(key) ?? newLedger(tenant, session);
    this.ledgers.set(key, ledger);
    return ledger;
  }

  /** Adds a process of the simulation. */
  joined(process: MachineProcess): void {
    this.#processes.set(process.owner, process);
  }

  /** Watches tools and effects as they begin, until the returned function is called. */
  listen(): () => void {
    const heard = (message: unknown): void => this.#entered(message as ExecutionMessage);
    executionChannel.subscribe(heard);
    return () => executionChannel.unsubscribe(heard);
  }

  #entered(execution: ExecutionMessage): void {
    const { host } = execution.ledger.ports;
    const isOurs = host instanceof MachineProcess && this.#processes.get(host.owner) === host;
    const ledger = this.find(execution.ledger.session);
    if (!isOurs || host.isDead || ledger === undefined) return;
    ledger.recoveries.set(execution.callId, execution.recovery);
    checkExecution(ledger, execution, this.#executions, (rule, detail) =>
      this.report(rule, detail),
    );
  }
}

function isMessage(item: InboxEntry, by: Actor): boolean {
  return item.type === 'user' && item.by === by;
}
