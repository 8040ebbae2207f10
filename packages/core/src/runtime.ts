import { systemClock } from './base/clock.ts';
import { isAdjutantError } from './base/error.ts';
import { type IdSource, systemIds } from './base/id.ts';
import { findInvalidOption } from './base/options.ts';
import { type Advance, type AdvanceOptions, advanced, checkAdvanceOptions } from './engine/advance.ts';
import { appServices } from './engine/app-services.ts';
import { ControlsSessions } from './engine/control-methods.ts';
import { checkListOptions, checkReopenOptions, sessionIdOf } from './engine/control-options.ts';
import { InvalidRunError, InvalidRuntimeError } from './engine/errors.ts';
import type { RunEnd, RunRequest } from './engine/execute-run.ts';
import { firstExpiry } from './engine/expiry.ts';
import { grantDraft, notGranted } from './engine/grants.ts';
import { type FollowOptions, type LiveSessions, liveSessionsOf } from './engine/live/live-sessions.ts';
import { OpenSessions } from './engine/open-sessions.ts';
import { Recovery } from './engine/recovery.ts';
import { type ReopenOptions, reopenDrafts } from './engine/reopen.ts';
import { type ReplayedLedger, replayOptions, tapes } from './engine/replayed-ledger.ts';
import { RequestService } from './engine/request-service.ts';
import type { Run } from './engine/run.ts';
import type { AppServices } from './engine/run-context.ts';
import {
  checkedRunOptions,
  checkForkOptions,
  checkRunnable,
  checkSessionOptions,
  type ForkOptions,
  type RunOptions,
  resolveRunLimits,
  type SessionOptions,
} from './engine/run-options.ts';
import { endedResult, lastRecord } from './engine/run-result.ts';
import { RunStarter } from './engine/run-starter.ts';
import { defaultLeaseMs, type RuntimeOptions, runtimeChecks } from './engine/runtime-options.ts';
import { SessionService } from './engine/session-service.ts';
import { SessionExistsError, SessionNotFoundError } from './ledger/errors.ts';
import type { StreamEvent } from './ledger/event.ts';
import { storedStateAt } from './ledger/fold-snapshot.ts';
import { Ledger, type LedgerPorts, openLedger } from './ledger/ledger.ts';
import { looseState } from './ledger/loose-state.ts';
import type { AppendReceipt, LedgerStore, ListOptions, ReadRange, SessionListing, Store, StoredEvent } from './ledger/port.ts';
import type { OutputOf, Runnable } from './ledger/runnable.ts';
import { type AnySession, type LooseSnapshot, Session, type SessionSnapshot } from './ledger/session.ts';
import { recordedScopes, type ScopeIds, SharedState } from './ledger/shared-state.ts';
import type { StateSchema } from './ledger/state-types.ts';
import type { StateSnapshot } from './ledger/time-travel.ts';
import { copyDecisions, isIsolated, isUnrecordedFork, makeFork, recordFork } from './ledger/time-travel-fork.ts';
import { memoryStore } from './stores/memory.ts';
import { processOwner } from './stores/owner.ts';
import type { ConversationResult, RunWithUserOptions } from './testing/users/conversation-options.ts';
import { type Toolset, toolset } from './tools/toolset.ts';

/** Milliseconds of active time that a run may take. */
const defaultRunTimeoutMs = 600_000;

/** An app that is running: sessions, runs and the tools that all agents share. */
export class Runtime<OwnSchema extends StateSchema = StateSchema> extends ControlsSessions {
  readonly app: string;
  readonly tenant: string;
  readonly tools: Toolset;
  readonly requests: RequestService;
  /** Whether what is streamed and not stored reaches followers in other processes too. */
  readonly carriesDeltas: 'process' | 'everywhere';
  /** Whether it looks for runs that stopped without an end, and continues them, without being asked. */
  readonly recoversByItself: boolean;
  readonly #options: RuntimeOptions;
  readonly #store: Store;
  readonly #services: AppServices;
  readonly #ids: IdSource;
  readonly #owner: string;
  readonly #runs: RunStarter;
  readonly #recovery: Recovery;
  readonly #live: LiveSessions;
  readonly #opening = new Map<string, Promise<void>>();
  readonly #sessions = new OpenSessions();
  #service: SessionService<OwnSchema> | undefined;

  /** @throws InvalidRuntimeError, DuplicateRunnableError, DuplicateToolError */
  constructor(typed: RuntimeOptions<OwnSchema>) {
    super();
    // What the types of the state say is for the caller only.
    const options = typed as unknown as RuntimeOptions;
    const invalid = findInvalidOption(options, runtimeChecks);
    if (invalid !== undefined) throw new InvalidRuntimeError({ reason: invalid.reason });
    const { app, tenant = 'default', ports = {} } = options;
    if (app === undefined) throw new InvalidRuntimeError({ reason: '`app` must be the name of the app' });
    this.#options = options;
    this.app = app;
    this.tenant = tenant;
    const clock = ports.clock ?? systemClock;
    this.#ids = ports.ids ?? systemIds;
    this.#store = options.store ?? memoryStore({ clock });
    this.#live = liveSessionsOf(this.#store, options.pubsub);
    this.carriesDeltas = options.pubsub === undefined ? 'process' : 'everywhere';
    this.tools = toolset(options.tools ?? [], `The app "${app}"`);
    this.#owner = processOwner(this.#ids);
    this.#services = appServices(options, {
      clock,
      tools: this.tools,
      takeUp: (session) => this.#recovery.takeUp(session),
      heed: (run, ledger) => this.#live.heed(this, run, ledger),
    });
    this.#recovery = new Recovery({
      ledgers: () => this.#ledgers,
      clock,
      resume: (session) => this.#start(undefined, { session }, { isWorker: true, isFound: true }),
      isActive: (session) => this.#runs.isActive(session),
      sweep: () => this.#store.admin.sweepBlobs(),
    });
    this.#runs = new RunStarter(this.#services, ({ result }) => {
      const at = result.status === 'yielded' ? firstExpiry(result.session.ledger) : null;
      if (at !== null) this.#recovery.wakeAt(at);
    });
    this.requests = new RequestService({
      ledgers: (other = tenant) => this.#store.for({ tenant: other, app }),
      clock,
      keys: options.approvals?.keys,
      findTool: (agentName, name) => this.#services.registry.findTool(agentName, name) ?? this.tools.get(name),
      posted: (session) => this.posted(session),
    });
    // The command line loads apps to look at them, and must not begin to work on all their sessions.
    const looksItself = options.recover !== 'manual' && process.env['ADJUTANT_RECOVER'] !== 'manual';
    this.recoversByItself = options.store !== undefined && looksItself;
    if (this.recoversByItself) this.#recovery.start();
  }

  protected override controlPorts(): LedgerPorts {
    return this.#ports();
  }

  get #ledgers(): LedgerStore {
    return this.#store.for({ tenant: this.tenant, app: this.app });
  }

  #ports(store: LedgerStore = this.#ledgers): LedgerPorts {
    return {
      store,
      scope: { tenant: this.tenant, app: this.app },
      clock: this.#services.clock,
      ids: this.#ids,
      owner: this.#owner,
      leaseMs: this.#options.lease?.ttl ?? defaultLeaseMs,
      tape: tapes.get(this.#options),
    };
  }

  /**
   * Starts a run, or continues the open one of the session. The input of an open run is a message to it.
   * @throws InvalidRunError, DuplicateRunnableError; everything else rejects the run
   */
  run<R extends Runnable>(runnable: R, inputOrOptions?: string | RunOptions): Run<OutputOf<R>>;
  run<R extends Runnable>(runnable: R, session: AnySession): Run<OutputOf<R>>;
  run(runnable: Runnable, inputOrOptions: string | RunOptions | AnySession = {}): Run {
    checkRunnable(runnable);
    const options = checkedRunOptions(inputOrOptions);
    this.#services.registry.register(runnable);
    return this.#start(runnable, options);
  }

  /**
   * Runs with somebody outside who answers what the run asks and says what comes next, until one of the two has nothing more to say. Called again
   * on the same session it goes on where the ledger stands. Users come from `adjutant/testing`: `scriptedUser`, `humanUser`, `agentUser`.
   * @throws InvalidOptionError, UnansweredRequestError, UserAnswerRefusedError, whatever the user throws, and what keeps a run from being carried out
   */
  async runWithUser<R extends Runnable>(runnable: R, options: RunWithUserOptions): Promise<ConversationResult<OutputOf<R>>> {
    checkRunnable(runnable);
    const { driveConversation } = await import('./testing/users/drive.ts');
    return (await driveConversation(this as unknown as Runtime, runnable, options)) as ConversationResult<OutputOf<R>>;
  }

  /** Continues the run that a session has open, from what its ledger says. Its runnable must be registered. @throws InvalidRunError */
  resume(session: AnySession | string, options: Omit<RunOptions, 'session' | 'input' | 'data'> = {}): Run {
    sessionIdOf(session);
    return this.#start(undefined, checkedRunOptions({ ...options, session }));
  }

  #start(runnable: Runnable | undefined, options: RunOptions, more: Partial<RunRequest> = {}, onEnd?: (end: RunEnd) => void): Run {
    const owner = typeof options.session === 'object' ? runtimes.get(options.session) : undefined;
    if (owner !== undefined && owner.app !== this.app) {
      throw new InvalidRunError({ reason: `the session belongs to the app "${owner.app}" of another runtime; run it there` });
    }
    const { session, onStream } = options;
    let id: string | undefined;
    const open = async (fresh: boolean): Promise<Session> => {
      const opened = await this.#sessionFor(fresh ? id : session, runnable === undefined || fresh);
      id = opened.id;
      return opened;
    };
    return this.#runs.start(open, { ...this.#request(runnable, options), ...more }, onStream, onEnd);
  }

  #request(runnable: Runnable | undefined, options: RunOptions): RunRequest {
    const { limits: own = {} } = options;
    const { limits: shared = {} } = this.#options;
    return {
      runnable,
      input: options.input,
      data: options.data,
      runId: options.runId ?? `run_${this.#ids.next()}`,
      isNamed: options.runId !== undefined,
      timeout: options.timeout ?? shared.timeout ?? defaultRunTimeoutMs,
      limits: resolveRunLimits(own, shared),
      signal: options.signal,
      onStep: options.onStep,
      permissions: options.permissions,
    };
  }

  /**
   * Carries the open run of a session on, as far as it goes without anybody outside: for workers that do a little of many sessions.
   * `done`, `failed` and `cancelled` say how the last run ended; `waiting` names what it waits for; `more`: a round or slice was all it was to do.
   * @throws InvalidRunError; rejects with SessionNotFoundError, UnknownRunnableError, LedgerMismatchError, StoreUnavailableError
   */
  async advance(session: AnySession | string, options: AdvanceOptions = {}): Promise<Advance> {
    checkAdvanceOptions(options);
    const { signal, until, slice } = options;
    let end: RunEnd | undefined;
    const run = this.#start(undefined, { session, ...(signal === undefined ? {} : { signal }) }, { until, slice, isWorker: true }, (reached) => {
      end = reached;
    });
    try {
      const result = await run;
      return advanced(result, end?.more === true);
    } catch (error) {
      if (!isAdjutantError(error, 'no_open_run')) throw error;
      const opened = await this.#sessionFor(session, true);
      const last = opened.ledger.invocations.roots.at(-1);
      const record = last === undefined ? undefined : lastRecord(opened.ledger, last);
      return record === undefined ? { status: 'done', result: undefined } : advanced(endedResult(opened, last as string, record), false);
    }
  }

  /**
   * Finds runs that stopped without an end and continues them. With `recover: 'auto'` this happens by itself.
   * @returns the runs that were taken up. @throws StoreUnavailableError
   */
  recover(): Promise<readonly Run[]> {
    return this.#recovery.look();
  }

  /**
   * Opens a run that failed or was cancelled again, or a part of it, so that `resume` goes on with it: after a bug was fixed, or a limit raised.
   * What has completed is not done again.
   * @throws NotReopenableError, SessionNotFoundError, SessionBusyError
   */
  async reopen(session: AnySession | string, options: ReopenOptions): Promise<void> {
    checkReopenOptions(options);
    const { ledger } = await this.#sessionFor(session, true);
    const drafts = reopenDrafts(ledger, options);
    await ledger.own();
    ledger.append(drafts, { wakeAt: this.#services.clock.now() });
    await ledger.durable();
    if (!this.#runs.isActive(ledger.session)) await ledger.release();
    this.#recovery.hint();
  }

  /** Whoever works on the session here looks at once; otherwise it is due for recovery. */
  protected override posted(session: string): void {
    const active = this.#runs.active(session);
    if (active === undefined) this.#recovery.hint();
    else active.poke();
  }

  async #sessionFor(given: AnySession | string | undefined, mustExist: boolean): Promise<Session> {
    if (typeof given === 'object') return given as Session;
    return given === undefined ? this.session() : (this.#open(given, {}, mustExist) as Promise<unknown> as Promise<Session>);
  }

  /** Opens a session, or makes a new one. What is written through it belongs to this process until it is flushed and given back. */
  async session<Schema extends StateSchema = OwnSchema>(options: SessionOptions<Schema> = {}): Promise<Session<Schema>> {
    checkSessionOptions(options as SessionOptions);
    const session = await this.#open(options.id ?? `session_${this.#ids.next()}`, options, false);
    if (options.permissions !== undefined) await this.#grantTo(session.ledger, options.permissions);
    return session;
  }

  async #grantTo(ledger: Ledger, permissions: readonly string[]): Promise<void> {
    const missing = notGranted(ledger.events, permissions);
    if (missing.length === 0) return;
    // What this process does not write may be another's at the moment.
    if (ledger.claim === undefined && ledger.durableSeq > 0) await this.grant(ledger.session, missing);
    else ledger.append([grantDraft('grant', { permissions: missing, by: 'operator' })]);
  }

  #open<Schema extends StateSchema>(id: string, options: SessionOptions<Schema>, mustExist: boolean): Promise<Session<Schema>> {
    // Two openings of one session at once would make two ledgers, of which one would soon be out of date.
    const before = this.#opening.get(id) ?? Promise.resolve();
    const opening = before.then(() => this.#openSession(id, options, mustExist));
    const done = opening.then(
      () => undefined,
      () => undefined,
    );
    this.#opening.set(id, done);
    void done.then(() => {
      if (this.#opening.get(id) === done) this.#opening.delete(id);
    });
    return opening;
  }

  async #openSession<Schema extends StateSchema>(id: string, options: SessionOptions<Schema>, mustExist: boolean): Promise<Session<Schema>> {
    const store = this.#ledgers;
    const open = this.#sessions.get(id);
    const head = await store.head(id);
    if (head === undefined && mustExist) throw new SessionNotFoundError({ session: id, app: this.app });
    if (open !== undefined && open.ledger.failure === undefined && this.#isCurrent(open.ledger, head?.seq ?? 0)) {
      if (options.existing === 'fail') throw new SessionExistsError({ session: id });
      if (options.scopes === undefined && options.userId === undefined && options.stateSchema === undefined)
        return open as unknown as Session<Schema>;
      // The same ledger, seen with the scopes and types that were asked for.
      return this.#view(open.ledger, options);
    }
    const exists = head !== undefined;
    if (exists && options.existing === 'fail') throw new SessionExistsError({ session: id });
    const ledger = exists ? await this.#openStored(id, head) : new Ledger(id, this.#ports(store), []);
    const session = await this.#view(ledger, options);
    if (options.observe !== false) this.#sessions.add(id, session as unknown as Session);
    return session;
  }

  async #openStored(id: string, head: AppendReceipt): Promise<Ledger> {
    const ports = this.#ports();
    const ledger = await openLedger(id, ports);
    if (!isUnrecordedFork(id, head, ledger.invocations.outside)) return ledger;
    await recordFork(ports, { session: id, shared: 'isolated', at: head.seq });
    return openLedger(id, ports);
  }

  /** Whether a ledger in memory is the stored one: this process writes it, or nobody has written since it was read. */
  #isCurrent(ledger: Ledger, storedSeq: number): boolean {
    return this.#runs.isActive(ledger.session) || ledger.claim !== undefined || ledger.durableSeq === storedSeq;
  }

  async #view<Schema extends StateSchema>(ledger: Ledger, options: SessionOptions<Schema>): Promise<Session<Schema>> {
    const scopes = { ...recordedScopes(ledger.events), ...options.scopes, ...(options.userId === undefined ? {} : { user: options.userId }) };
    // What a replayed session sees of others is in its record.
    const isolated = ledger.ports.tape !== undefined || isIsolated(ledger.invocations.outside);
    const session = this.#wrap<Schema>(ledger, scopes, options.stateSchema ?? this.#options.stateSchema, isolated);
    if (options.observe !== false) await session.observeShared();
    return session;
  }

  #wrap<Schema extends StateSchema>(ledger: Ledger, scopes: ScopeIds, schema: StateSchema | undefined, isolated = false): Session<Schema> {
    const shared = new SharedState(ledger.ports.store, scopes, { recorded: Object.keys(recordedScopes(ledger.events)), isolated });
    const made = new Session<Schema>({ app: this.app, ledger, shared, schema, restore, checkAnswer: this.requests.check });
    runtimes.set(made, this as unknown as Runtime);
    return made;
  }

  /** Makes a session of this app from a snapshot, under the snapshot's id. @throws SessionExistsError when the id is in use */
  async restoreSession<Schema extends StateSchema = StateSchema>(
    snapshot: SessionSnapshot | LooseSnapshot,
    schema?: Schema,
  ): Promise<Session<Schema>> {
    const id = snapshot.id ?? `session_${this.#ids.next()}`;
    if ((await this.#ledgers.head(id)) !== undefined) throw new SessionExistsError({ session: id });
    // What nobody else can open needs no record of it.
    const session = this.#fill(snapshot, id, schema, this.#options.store !== undefined);
    await session.flush();
    this.#sessions.add(id, session);
    return session as unknown as Session<Schema>;
  }

  #fill(snapshot: SessionSnapshot | LooseSnapshot, id: string, schema: StateSchema | undefined, lasts = false): Session {
    const ledger = new Ledger(id, this.#ports(), []);
    ledger.restore(snapshot.events ?? [], snapshot.blobs ?? {});
    const observed = looseState(snapshot);
    const named = Object.fromEntries(observed.map(({ scope }) => [scope, id]));
    // A copy keeps the shared state that it was made with, and its writes to itself.
    const session = this.#wrap(ledger, { ...named, ...recordedScopes(ledger.events), ...snapshot.scopes }, schema ?? this.#options.stateSchema, true);
    const drafts = [...(lasts ? copyDecisions(ledger, session.shared.names) : []), ...observed];
    if (drafts.length > 0) ledger.append(drafts);
    return session;
  }

  /**
   * A runtime of the same definitions that goes on from the first events of a record and is held against the rest of it; for `replay`.
   * @throws LedgerUnreadableError
   */
  static async replaying(app: Runtime, replayed: ReplayedLedger): Promise<Runtime> {
    const { runnables } = app;
    const options: RuntimeOptions = { ...replayOptions(app.#options, replayed), store: memoryStore({ clock: replayed.clock }), runnables };
    const made = new Runtime(options);
    const ledger = new Ledger(replayed.session, made.#ports(), []);
    ledger.restore(replayed.events, replayed.blobs);
    await ledger.release();
    tapes.set(options, replayed.tape);
    return made;
  }

  /** What an app knows by a name; for `replay`. @throws UnknownRunnableError */
  static registered(app: Runtime, name: string): Runnable {
    return app.#services.registry.get(name);
  }

  /** A copy of a snapshot that can be used at once; for `session.clone()`. */
  static fill(runtime: Runtime, snapshot: SessionSnapshot, schema: StateSchema | undefined): Session {
    return runtime.#fill(snapshot, snapshot.id, schema);
  }

  /**
   * Makes a session that shares the events up to `at` with another one and goes its own way from there. The store copies nothing. What was
   * done in the shared part stays done; calls of which nobody knows the outcome are answered by their tools' `recovery`, as after a crash.
   * @throws SessionNotFoundError, SessionExistsError, SeqOutOfRangeError
   */
  async fork(sessionId: string, options: ForkOptions = {}): Promise<Session<OwnSchema>> {
    checkForkOptions(options);
    const open = this.#sessions.get(sessionId);
    if (open?.ledger.failure === undefined) await open?.ledger.durable();
    const { id = `session_${this.#ids.next()}`, shared = 'isolated', at } = options;
    await makeFork(this.#ports(), sessionId, { id, shared, ...(at === undefined ? {} : { at }) });
    return this.session({ id });
  }

  /**
   * A stored session as it was right after the event `seq`. Nothing is claimed: another process may be working on it.
   * @param seq @default the last event
   * @throws SessionNotFoundError, SeqOutOfRangeError, LedgerUnreadableError
   */
  stateAt(sessionId: string, seq?: number): Promise<StateSnapshot> {
    return storedStateAt(this.#ports(), sessionId, seq);
  }

  /**
   * The events of a stored session, without opening it. What this version of Adjutant cannot read comes as an `unreadable` event in its
   * place, so that also a damaged ledger and one of a newer version can be looked at.
   * @throws SessionNotFoundError
   */
  async *events(sessionId: string, range?: ReadRange): AsyncGenerator<StoredEvent, void, undefined> {
    for await (const page of this.#ledgers.readStored(sessionId, range)) yield* page;
  }

  /**
   * What happens in a session, whoever works on it: all durable events after a place, in order and without gaps, and those to come as they land;
   * and between them, as they are written, the parts of answers. Whoever comes in the middle of an answer gets a `stream_reset` and the text so far;
   * whoever reads slowly gets parts joined, and holds nobody up. A durable event takes the place of the parts that it was made of. With `pubsub`
   * the parts come from every process, without it from this one only.
   * @throws InvalidRunError, SessionNotFoundError, SeqOutOfRangeError, LedgerUnreadableError, StoreUnavailableError
   */
  follow(session: AnySession | string, options: FollowOptions = {}): AsyncGenerator<StreamEvent, void, undefined> {
    return this.#live.follow(this, this.#ledgers, sessionIdOf(session), options);
  }

  /** The stored sessions: made, found, listed and deleted. */
  get sessions(): SessionService<OwnSchema> {
    this.#service ??= new SessionService<OwnSchema>({
      app: this.app,
      ledgers: () => this.#ledgers,
      open: (options) => this.session(options),
      forgetDeleted: () => this.#sessions.forgetDeleted(this.#ledgers),
    });
    return this.#service;
  }

  /** What runs are asked for by name: the runnables that were registered, and everything that they contain. */
  get runnables(): readonly Runnable[] {
    const { registry } = this.#services;
    return registry.names.map((name) => registry.get(name));
  }

  /** Sessions by the time of their last event, newest first. @throws InvalidRunError */
  async list(options: ListOptions = {}): Promise<readonly SessionListing[]> {
    checkListOptions(options);
    return this.#ledgers.list(options);
  }

  /** Gives all runs and what they dispatched back without ending them, waits for that, and closes the store. */
  async close(): Promise<void> {
    this.#recovery.stop();
    await this.#runs.stop();
    for (const { ledger } of this.#sessions.all()) if (ledger.failure === undefined) await ledger.release();
    await this.#store.close();
  }
}

function restore(snapshot: SessionSnapshot, schema: StateSchema | undefined): Session {
  return Runtime.fill(new Runtime({ app: snapshot.app }), snapshot, schema);
}

/** Makes an app that sessions and runs belong to. */
export function runtime<Schema extends StateSchema = StateSchema>(options: RuntimeOptions<Schema>): Runtime<Schema> {
  return new Runtime(options);
}

/** The runtime that a session came from: `run(runnable, { session })` runs there. */
const runtimes = new WeakMap<AnySession, Runtime>();

/** The runtime that a session came from; for anything else a new one in memory. */
export function runtimeOf(session: AnySession | string | undefined): Runtime {
  return (typeof session === 'object' ? runtimes.get(session) : undefined) ?? new Runtime({ app: 'app' });
}
