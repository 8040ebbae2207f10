import { AbortReason, CancelScope } from '../../base/cancel-scope.ts';
import { sha256 } from '../../base/hash.ts';
import { randomFromSeed } from '../../base/random.ts';
import {
  type EffectRecord,
  type EffectRequest,
  performEffect,
} from '../../effects/recorded-effect.ts';
import { readsLikeCall } from '../../ledger/effect-id.ts';
import { StateConflictError } from '../../ledger/errors.ts';
import type { Event, InvocationInput, InvocationMode } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { hasOutcome } from '../../ledger/folds/invocation-fold.ts';
import type {
  BodyContext,
  CallOptions,
  CallResult,
  EffectContext,
  EffectOptions,
  SessionReader,
  SpawnHandle,
} from '../../session/body-context.ts';
import type { Runnable } from '../../session/runnable.ts';
import { createState, type StateAccess } from '../../session/scoped-state.ts';
import type { StateOf, StateSchema } from '../../session/state-types.ts';
import { Activity } from '../frame/activity.ts';
import { InvalidKeyError, InvocationEndedError } from '../frame/errors.ts';
import { assertFact } from '../frame/facts.ts';
import { occupancyOf } from '../frame/occupancy.ts';
import { assertEffect, recordedEffects } from './body-effects.ts';
import type { BodyPlace } from './body-place.ts';
import { BodyState, nothingTaken, type RefusedWrites } from './body-state.ts';
import { callResult } from './call-result.ts';
import { assertDepth, assertName } from './child-check.ts';
import { DriftGate } from './drift-gate.ts';
import { inputNow, inputOf } from './input-contract.ts';
import { inputHash, invoke } from './invoke.ts';
import { RecordedOrder } from './recorded-order.ts';
import { flushedWith, outcomeSeq } from './recorded-writes.ts';

export type { BodyPlace } from './body-place.ts';

const defaultAgentTimeoutMs = 120_000;

/** Context of steps and tools, with the members that the engine needs. */
export class Body implements BodyContext {
  readonly invocationId: string;
  readonly place: BodyPlace;
  readonly #startedAt: number;
  #writes: BodyState | undefined;
  #state: StateOf<StateSchema> | undefined;
  #ended = false;
  #keys: Map<string, number> | undefined;
  #effectKeys: Set<string> | undefined;
  #effects: ReadonlyMap<string, EffectRecord> | undefined;
  #asked: Set<string> | undefined;
  #children: Set<Promise<unknown>> | undefined;
  #childScope: CancelScope | undefined;
  #suspension: PromiseWithResolvers<void> | undefined;
  /**
   * Keys of children that the body started without waiting for them. The outcome of the writes that
   * were to land with them has not been checked yet.
   */
  #unconfirmed: string[] = [];
  readonly #refreshes = new Map<string, number>();
  #order: RecordedOrder | undefined;
  #gate: DriftGate | undefined;

  constructor(place: BodyPlace) {
    this.place = place;
    this.invocationId = place.path;
    this.#startedAt = place.run.ledger.lastSeq;
  }

  /**
   * State of the body with its writes. It is made when it is needed: most tools need none of it.
   */
  get writes(): BodyState {
    this.#writes ??= new BodyState(this.place.run, { ...this.place, startedAt: this.#startedAt });
    return this.#writes;
  }

  /** True if there may be writes to take, or recorded ones that the body did not make again. */
  protected get hasWrites(): boolean {
    if (this.#writes !== undefined) return true;
    const { run, path, base } = this.place;
    return (
      base !== undefined &&
      run.ledger.invocations.byPath
        .get(path)
        ?.events.some(({ type }) => type === 'state_change') === true
    );
  }

  get state(): StateOf<StateSchema> {
    this.#state ??= createState(
      this.#stateAccess(),
      this.place.stateSchema,
    ) as StateOf<StateSchema>;
    return this.#state;
  }

  /**
   * Returns the access to the state. After the body's end it can be read, and a write is refused:
   * it would land nowhere.
   */
  #stateAccess(): StateAccess {
    const { writes } = this;
    return {
      sharedScopes: writes.sharedScopes,
      temp: writes.temp,
      recordsUpdates: true,
      read: (scope, key) => writes.read(scope, key),
      peek: (scope) => writes.peek(scope),
      write: (scope, changes, update) => {
        this.assertOpen('state');
        writes.write(scope, changes, update);
      },
      refresh: (options) => this.#refresh(options?.key),
    };
  }

  /**
   * Refreshes the shared scopes. The values are recorded, and a body that runs again sees the same.
   */
  async #refresh(key: string | undefined): Promise<void> {
    this.assertOpen('state.refresh');
    const { run, path, childRoot, base } = this.place;
    if (key !== undefined) assertKey(key);
    const name = key === undefined ? childRoot : `${childRoot}#${key}`;
    const count = (this.#refreshes.get(name) ?? 0) + 1;
    this.#refreshes.set(name, count);
    const refresh = `${name}#${count}`;
    const isThis = (event: Event): boolean =>
      event.type === 'state_change' && event.refresh === refresh;
    const recorded =
      base === undefined
        ? undefined
        : run.ledger.invocations.byPath.get(path)?.events.findLast(isThis);
    if (recorded === undefined)
      await run.session.observeShared({ seenBy: { invocationId: path, refresh } });
    this.writes.refreshed(
      (recorded ?? run.ledger.events.findLast(isThis))?.seq ?? run.ledger.lastSeq,
    );
  }

  get session(): SessionReader {
    return this.place.run.session;
  }

  get signal(): AbortSignal {
    return this.place.scope.signal;
  }

  /**
   * Resolves when a child has released the run: the body will not go on in this process.
   * @throws LedgerMismatchError when it cannot go on with its code
   */
  get suspended(): Promise<void> {
    this.#suspension ??= Promise.withResolvers<void>();
    return this.#suspension.promise;
  }

  /** Paths of the children that the body has asked for. */
  get asked(): ReadonlySet<string> {
    return this.#asked ?? noPaths;
  }

  /**
   * Returns the ids of the recorded effects that a body which runs again has not asked for this
   * time.
   */
  forgottenEffects(counts: (effect: EffectRecord) => boolean): readonly string[] {
    const { run, path, childRoot, base } = this.place;
    if (base === undefined) return [];
    const recorded = recordedEffects(run.ledger.invocations.byPath.get(path), childRoot);
    return [...recorded].flatMap(([id, effect]) =>
      counts(effect) && !this.#effectKeys?.has(id.slice(childRoot.length + 1)) ? [id] : [],
    );
  }

  /** Closes the context: from now on it refuses to be used. */
  close(): void {
    this.#ended = true;
    this.#gate?.close();
  }

  /**
   * Checks that nothing is held back at the end of the body.
   * @throws LedgerMismatchError when something is that the body has asked for
   */
  assertNothingHeld(): void {
    const mismatch = this.#gate?.mismatch();
    if (mismatch !== undefined) throw mismatch;
  }

  /**
   * Gate that holds back children and effects that an edited body asks for instead of recorded
   * ones.
   */
  get #drift(): DriftGate {
    const { place } = this;
    this.#gate ??= new DriftGate({
      place,
      effects: () => this.#recordedEffects(),
      refuse: (error) => this.#refuse(error),
    });
    return this.#gate;
  }

  /**
   * Ends the body without recording anything: its promises never settle, and the engine stops
   * waiting for it.
   */
  #refuse(error: Error): void {
    this.#suspension ??= Promise.withResolvers<void>();
    this.#suspension.promise.catch(() => undefined);
    this.#suspension.reject(error);
  }

  #recordedEffects(): ReadonlyMap<string, EffectRecord> {
    this.#effects ??= recordedEffects(
      this.place.run.ledger.invocations.byPath.get(this.place.path),
      this.place.childRoot,
    );
    return this.#effects;
  }

  /**
   * Resolves when all children have ended that the body must not end before; `undefined` when there
   * are none.
   */
  childrenEnded(): Promise<void> | undefined {
    return this.#children === undefined || this.#children.size === 0 ? undefined : this.#allEnded();
  }

  /** Stops these children and resolves when they have ended. */
  stopChildren(reason: AbortReason): Promise<void> | undefined {
    this.#childScope?.abort(reason);
    return this.childrenEnded()?.catch(() => this.stopChildren(reason));
  }

  async #allEnded(): Promise<void> {
    while (this.#children !== undefined && this.#children.size > 0)
      await Promise.all(this.#children);
  }

  #scopeOfChildren(): CancelScope {
    this.#childScope ??= new CancelScope(this.place.scope);
    return this.#childScope;
  }

  /**
   * Remembers a child until it has ended. A rejection that no caller awaits must not end the
   * process.
   */
  #track(ended: Promise<unknown>): Promise<unknown> {
    this.#children ??= new Set();
    const children = this.#children;
    const tracked = ended.finally(() => children.delete(tracked));
    tracked.catch(() => undefined);
    children.add(tracked);
    return tracked;
  }

  async call<Output>(
    runnable: Runnable<Output>,
    options: CallOptions = {},
  ): Promise<CallResult<Output>> {
    const checked = inputOf(runnable, options);
    const input = checked instanceof Promise ? await checked : checked;
    const child = this.#begin('call', runnable, input, options, this.#scopeOfChildren());
    this.#track(child.ended);
    const record = await child.ended;
    if (record === undefined) return this.#neverReturn();
    if (child.givenFrom !== undefined) await this.#inRecordedOrder(child.givenFrom);
    try {
      await this.#assertLanded(this.#keyOf(child.path));
    } finally {
      this.writes.adopt(record);
    }
    return callResult<Output>(child.path, record);
  }

  /**
   * Treats earlier writes of the body as landed: they landed with the recorded start of the child
   * or effect.
   */
  #landedBefore(begun: number, key: string): void {
    this.writes.drop(flushedWith(this.place.run.ledger, this.place.path, begun, key));
    this.writes.reached();
  }

  /**
   * Waits for the turn of an outcome that was recorded before the body asked for it. The body does
   * not rest meanwhile.
   */
  async #inRecordedOrder(seq: number): Promise<void> {
    const turn = new Activity(this.place.childRoot, this.place.activity());
    this.#order ??= new RecordedOrder(this.place.run.ledger.ports.host);
    await this.#order.turnOf(seq);
    turn.end();
  }

  #keyOf(childPath: string): string {
    return childPath.slice(this.place.childRoot.length + 1);
  }

  /**
   * Waits for the outcome of the shared writes that were to land with the start of children. Those
   * children are the ones that were not waited for, and one more child or effect.
   * @throws StateConflictError when a write was refused
   */
  async #assertLanded(key?: string, begun?: number): Promise<void> {
    const { ledger, session } = this.place.run;
    if (session.shared.names.length === 0) return;
    await ledger.durable();
    const startOf = (child: string): number | undefined =>
      ledger.invocations.byPath.get(`${this.place.childRoot}/${child}`)?.start.seq;
    const keys = [...this.#unconfirmed, ...(key === undefined ? [] : [key])];
    this.#unconfirmed = this.#unconfirmed.filter((child) => startOf(child) === undefined);
    const refused: RefusedWrites[] = [];
    for (const name of keys) {
      const start = name === key && begun !== undefined ? begun : (startOf(name) ?? 0);
      if (this.#writes !== undefined) this.#writes.settle(start);
      refused.push(...flushedWith(ledger, this.place.path, start, name).refused);
    }
    const [first] = refused;
    if (first !== undefined)
      throw new StateConflictError({
        scope: first.scope,
        scopeId: first.scopeId,
        keys: first.keys,
      });
  }

  /**
   * True when the outcome of some writes is unchecked: those that were to land with children not
   * waited for.
   */
  protected get hasUnconfirmed(): boolean {
    return this.#unconfirmed.length > 0;
  }

  /** Rejects when a shared write was refused that was to land with a child not waited for. */
  async landed(): Promise<void> {
    if (this.hasUnconfirmed) await this.#assertLanded();
  }

  spawn<Output>(runnable: Runnable<Output>, options: CallOptions = {}): SpawnHandle<Output> {
    // The scope lies below the run and is tied to its owner, so that the child can be detached.
    const scope = new CancelScope(this.place.run.detachedScope);
    const child = this.#begin('spawn', runnable, inputNow(runnable, options), options, scope);
    child.ended.catch(() => undefined);
    const isFree = this.#isDetached(child.path);
    const untie = isFree
      ? undefined
      : (this.place.ownerScope ?? this.#scopeOfChildren()).onAbort((reason) => scope.abort(reason));
    const tracked =
      isFree || this.place.ownerScope !== undefined ? undefined : this.#track(child.ended);
    return {
      invocationId: child.path,
      wait: async () => {
        const givenFrom = outcomeSeq(this.place.run.ledger, child.path);
        const record = await this.#waitedFor(child);
        if (record === undefined) return this.#neverReturn();
        if (givenFrom !== undefined && givenFrom <= this.#startedAt)
          await this.#inRecordedOrder(givenFrom);
        try {
          await this.#assertLanded();
        } finally {
          this.writes.adopt(record);
        }
        return callResult<Output>(child.path, record);
      },
      abort: (reason) =>
        scope.abort(
          new AbortReason('cancelled', reason ?? `${runnable.name} was aborted by its caller.`),
        ),
      detach: () => {
        if (tracked !== undefined) this.#children?.delete(tracked);
        untie?.();
        this.#recordDetaching(child.path);
        this.place.run.detach(child.path, child.ended);
        occupancyOf(this.place.run.ledger)
          .underWay.get(child.path)
          ?.activity.moveTo(this.place.run.detachedActivity);
      },
    };
  }

  /** Waits for a child: the body waits while the child waits. */
  async #waitedFor({
    path,
    ended,
  }: {
    readonly path: string;
    readonly ended: Promise<InvocationRecord | undefined>;
  }) {
    const activity = occupancyOf(this.place.run.ledger).underWay.get(path)?.activity;
    const detach = activity?.attachTo(this.place.activity());
    // A child that came to rest earlier does not report it again by itself.
    activity?.rest();
    try {
      return await ended;
    } finally {
      detach?.();
    }
  }

  #isDetached(path: string): boolean {
    return this.place.run.ledger.invocations.byPath.get(path)?.mode === 'dispatch';
  }

  /** Records that nothing waits for a spawned child any more; once, and only while it matters. */
  #recordDetaching(path: string): void {
    const { ledger } = this.place.run;
    if (
      ledger.failure !== undefined ||
      this.#isDetached(path) ||
      hasOutcome(ledger.invocations, path)
    )
      return;
    ledger.append([
      {
        type: 'decision',
        by: this.place.by,
        invocationId: this.place.path,
        component: 'spawn',
        decision: 'detach',
        reasoning: `"${path}" goes on by itself: its caller does not wait for it.`,
        data: { path },
      },
    ]);
  }

  dispatch(runnable: Runnable, options: CallOptions = {}): { readonly invocationId: string } {
    const { run } = this.place;
    const child = this.#begin(
      'dispatch',
      runnable,
      inputNow(runnable, options),
      options,
      run.detachedScope,
    );
    run.detach(child.path, child.ended);
    return { invocationId: child.path };
  }

  effect<Value>(
    key: string,
    run: (ctx: EffectContext) => Value | Promise<Value>,
    options: EffectOptions = {},
  ): Promise<Value> {
    let outcome: Promise<Value>;
    try {
      outcome = this.#recordEffect({
        key,
        callId: `${this.place.childRoot}/${key}`,
        run,
        options,
      }) as Promise<Value>;
    } catch (error) {
      return Promise.reject(error);
    }
    // The ledger has the failure: a rejection that nothing awaits must not end the process.
    outcome.catch(() => undefined);
    return outcome;
  }

  #recordEffect(request: EffectRequest): Promise<unknown> {
    this.assertOpen('effect');
    assertEffect(request);
    const { key, callId } = request;
    this.#claimEffectKey(key);
    const { run, path, by, onChild } = this.place;
    onChild?.();
    this.writes.settleBase();
    const record = this.#recordedEffects().get(callId) ?? { attempts: [], settled: undefined };
    const [first] = record.attempts;
    if (first === undefined) this.writes.assertInOrder();
    else this.#landedBefore(first.seq, key);
    const givenFrom = record.settled?.seq;
    const scope = new CancelScope(this.#scopeOfChildren());
    const held =
      first === undefined ? this.#drift.holdEffect(callId, scope) : this.#drift.askedEffect(callId);
    const made = held === undefined ? undefined : this.writes.waiting();
    const takeWrites = () => this.writes.take(key, { of: made });
    const perform = (): ReturnType<typeof performEffect> => {
      // The body does not wait for the outside as long as it does something itself.
      const underWay = new Activity(callId, this.place.activity());
      const performed = performEffect(request, record, {
        ledger: run.ledger,
        clock: run.app.clock,
        scope,
        path,
        by,
        takeWrites,
      });
      const end = (): void => underWay.end();
      performed.then(end, end);
      return performed;
    };
    const ended =
      held === undefined ? perform() : held.then((goesOn) => (goesOn ? perform() : undefined));
    const forget = (): void => scope.close();
    this.#track(ended.then(forget, forget));
    return ended.then(async (given) => {
      if (given === undefined) return this.#neverReturn();
      if (givenFrom !== undefined) await this.#inRecordedOrder(givenFrom);
      await this.#assertLanded(key, record.attempts[0]?.seq);
      const turning = run.turn();
      if (turning !== undefined) await turning;
      return given.value;
    });
  }

  #claimEffectKey(key: string): void {
    assertKey(key);
    if (readsLikeCall(key))
      throw new InvalidKeyError({ key, reason: 'it reads like the call of a tool' });
    this.#keys ??= new Map();
    if (this.#keys.has(key))
      throw new InvalidKeyError({
        key,
        reason: 'it names another child or effect of the same body already',
      });
    this.#keys.set(key, 1);
    this.#effectKeys ??= new Set();
    this.#effectKeys.add(key);
  }

  remember(text: string, options: { readonly key?: string } = {}): void {
    this.assertOpen('remember');
    assertFact(text, options);
    this.writes.remember(text, options.key);
  }

  now(): number {
    this.assertOpen('now');
    return this.place.startedAt;
  }

  id(key: string): string {
    this.assertOpen('id');
    return sha256(
      `${this.place.run.session.id}\n${this.place.childRoot}\n${this.place.startedAt}\nid\n${key}`,
    ).slice(0, 20);
  }

  random(key: string): number {
    this.assertOpen('random');
    return randomFromSeed(
      `${this.place.run.session.id}\n${this.place.childRoot}\n${this.place.startedAt}\nrandom\n${key}`,
    );
  }

  protected assertOpen(method: string): void {
    if (this.#ended) throw new InvocationEndedError({ path: this.place.childRoot, method });
  }

  /**
   * Returns the promise that a body gets when its child has released the run. It never settles, and
   * the engine stops waiting for the body.
   */
  #neverReturn(): Promise<never> {
    this.#suspension ??= Promise.withResolvers<void>();
    this.#suspension.resolve();
    return new Promise<never>(() => undefined);
  }

  /** Starts or continues a child; the body's writes land with its start. */
  #begin(
    mode: InvocationMode,
    runnable: Runnable,
    input: InvocationInput | undefined,
    options: CallOptions,
    scope: CancelScope,
  ): { path: string; ended: Promise<InvocationRecord | undefined>; givenFrom: number | undefined } {
    this.assertOpen(mode);
    const { run, childRoot } = this.place;
    const key = this.#uniqueKey(runnable, options, input);
    const path = `${childRoot}/${key}`;
    this.#asked ??= new Set();
    this.#asked.add(path);
    const recorded = run.ledger.invocations.byPath.get(path);
    if (recorded === undefined) {
      assertDepth(this.place, runnable);
      if (mode !== 'call') assertName(this.place, runnable);
    }
    this.place.onChild?.();
    this.writes.settleBase();
    if (recorded === undefined) this.writes.assertInOrder();
    else this.#landedBefore(recorded.start.seq, key);
    const timeout =
      options.timeout ?? (runnable.kind === 'agent' ? defaultAgentTimeoutMs : undefined);
    const activity = this.#activityFor(mode);
    if (mode !== 'call' && run.session.shared.names.length > 0) this.#unconfirmed.push(key);
    const givenFrom = outcomeSeq(run.ledger, path);
    const held =
      recorded === undefined
        ? this.#drift.holdChild(path, runnable, scope)
        : this.#drift.askedChild(path);
    // Writes of other branches while the child is held back are no part of its start.
    const made = held === undefined ? undefined : this.writes.waiting();
    const begin = (): Promise<InvocationRecord | undefined> => {
      const { drafts, extras } =
        recorded === undefined ? this.writes.take(key, { of: made }) : nothingTaken;
      return invoke(run, {
        path,
        runnable,
        mode,
        input,
        timeout,
        scope,
        activity,
        before: drafts,
        extras,
      });
    };
    return {
      path,
      givenFrom,
      ended: held === undefined ? begin() : held.then((goesOn) => (goesOn ? begin() : undefined)),
    };
  }

  /**
   * Returns the node that waits while a child waits. For a spawned child it is its owner, for a
   * dispatched one the run's detached node.
   */
  #activityFor(mode: InvocationMode): Activity {
    const { run, activity, ownerActivity } = this.place;
    if (mode === 'dispatch') return run.detachedActivity;
    return mode === 'spawn' ? (ownerActivity ?? activity()) : activity();
  }

  #uniqueKey(runnable: Runnable, options: CallOptions, input: InvocationInput | undefined): string {
    const { key } = options;
    if (key !== undefined) assertKey(key);
    const base =
      key ?? (input === undefined ? runnable.name : `${runnable.name}#${inputHash(input)}`);
    if (this.#effectKeys?.has(base))
      throw new InvalidKeyError({
        key: base,
        reason: 'it names an effect of the same body already',
      });
    this.#keys ??= new Map();
    const count = (this.#keys.get(base) ?? 0) + 1;
    this.#keys.set(base, count);
    if (count === 1) return base;
    if (key !== undefined)
      throw new InvalidKeyError({ key, reason: 'it names another child of the same body already' });
    // No name or key has this mark, so a numbered name never equals another one.
    return `${base}#${count}`;
  }
}

const noPaths: ReadonlySet<string> = new Set();

function assertKey(key: string): void {
  if (typeof key !== 'string' || key === '' || /[/#~>]/.test(key)) {
    throw new InvalidKeyError({
      key: String(key),
      reason: 'a key is not empty and has none of / # ~ >',
    });
  }
}
