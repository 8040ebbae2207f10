import type { Clock } from './base/clock.ts';
import { isAdjutantError } from './base/error.ts';
import { type IdSource, systemIds } from './base/id.ts';
import type {
  ConversationResult,
  RunWithUserOptions,
} from './conversation/conversation-options.ts';
import { checkReopenOptions, sessionIdOf } from './engine/app/control-options.ts';
import { OpenSessions } from './engine/app/open-sessions.ts';
import { ReadsSessions } from './engine/app/reading-methods.ts';
import { Recovery } from './engine/app/recovery.ts';
import { type ReplayedLedger, replayOptions, tapes } from './engine/app/replayed-ledger.ts';
import {
  checkedOptions,
  clockOf,
  defaultLeaseMs,
  mayRecoverByItself,
  type RuntimeOptions,
} from './engine/app/runtime-options.ts';
import { appServices } from './engine/app/services.ts';
import { SessionService } from './engine/app/session-service.ts';
import { checkTenant, dueSessions, reachableLedgers, Tenants } from './engine/app/tenants.ts';
import { InvalidRunError } from './engine/frame/errors.ts';
import { grantDraft, notGranted } from './engine/frame/grants.ts';
import type { AppServices, StreamedRun } from './engine/frame/run-context.ts';
import {
  checkedRunOptions,
  checkForkOptions,
  checkRunnable,
  checkSessionOptions,
  type ForkOptions,
  type RunOptions,
  type SessionOptions,
} from './engine/frame/run-options.ts';
import { type LiveSessions, liveSessionsOf } from './engine/live/live-sessions.ts';
import { RequestService } from './engine/requests/service.ts';
import {
  type Advance,
  type AdvanceOptions,
  advanced,
  checkAdvanceOptions,
} from './engine/run/advance.ts';
import type { RunEnd } from './engine/run/execute-run.ts';
import { firstExpiry } from './engine/run/expiry.ts';
import { type ReopenOptions, reopenDrafts } from './engine/run/reopen.ts';
import type { Run } from './engine/run/run.ts';
import { type RunRequest, runRequest } from './engine/run/run-request.ts';
import { lastResult } from './engine/run/run-result.ts';
import { RunStarter } from './engine/run/starter.ts';
import { SessionExistsError, SessionNotFoundError } from './ledger/errors.ts';
import { Ledger, type LedgerPorts } from './ledger/ledger.ts';
import { newLedger, openLedger } from './ledger/open-ledger.ts';
import type { LedgerHead, LedgerStore, Store } from './ledger/port.ts';
import { recordedScopes } from './ledger/shared-scopes.ts';
import { StoreClock, syncClock } from './ledger/store-clock.ts';
import { looseState } from './session/loose-state.ts';
import type { OutputOf, Runnable } from './session/runnable.ts';
import {
  type AnySession,
  type LooseSnapshot,
  Session,
  type SessionSnapshot,
} from './session/session.ts';
import { type ScopeIds, SharedState } from './session/shared-state.ts';
import type { StateSchema } from './session/state-types.ts';
import {
  copyDecisions,
  isIsolated,
  isUnrecordedFork,
  makeFork,
  recordFork,
} from './session/time-travel-fork.ts';
import { memoryStore } from './stores/memory.ts';
import { processOwner } from './stores/owner.ts';
import { type Toolset, toolset } from './tools/toolset.ts';

/** An app that is running: sessions, runs and the tools that all agents share. */
export class Runtime<OwnSchema extends StateSchema = StateSchema> extends ReadsSessions {
  readonly app: string;
  readonly tenant: string;
  /** Where the sessions of all its tenants lie. */
  readonly store: Store;
  readonly tools: Toolset;
  readonly requests: RequestService;
  readonly #options: RuntimeOptions;
  /** The runtime that those of all tenants came from. */
  readonly #origin: Runtime;
  readonly #tenants: Tenants<Runtime>;
  #looksAfterAll: boolean;
  readonly #services: AppServices;
  readonly #ids: IdSource;
  readonly #owner: string;
  readonly #runs: RunStarter;
  readonly #recovery: Recovery;
  readonly #live: LiveSessions;
  readonly #sessions = new OpenSessions();
  #service: SessionService<OwnSchema> | undefined;

  /** @throws InvalidRuntimeError, DuplicateRunnableError, DuplicateToolError */
  constructor(typed: RuntimeOptions<OwnSchema>) {
    super();
    const options = typed as unknown as RuntimeOptions;
    const { app, tenant = 'default', ports = {} } = checkedOptions(options);
    [this.#options, this.app, this.tenant] = [options, app, tenant];
    const origin = origins.get(options);
    const clock = origin === undefined ? clockOf(options) : origin.#services.clock;
    this.#origin = origin ?? (this as unknown as Runtime);
    this.#tenants =
      origin === undefined
        ? new Tenants<Runtime>(clock, (made) => !made.#runs.isIdle)
        : origin.#tenants;
    this.#looksAfterAll = options.tenants === true;
    this.#ids = ports.ids ?? systemIds;
    this.store = origin?.store ?? options.store ?? memoryStore({ clock });
    this.#live = liveSessionsOf(this.store, options.pubsub);
    this.tools = origin?.tools ?? toolset(options.tools ?? [], `The app "${app}"`);
    this.#owner = origin === undefined ? processOwner(this.#ids) : origin.#owner;
    const ofTenant = {
      clock,
      tools: this.tools,
      takeUp: (session: string) => this.#recovery.takeUp({ tenant, session }),
      heed: (run: StreamedRun, ledger: Ledger) => this.#live.heed(this, run, ledger),
    };
    this.#services =
      origin === undefined ? appServices(options, ofTenant) : { ...origin.#services, ...ofTenant };
    this.#recovery = origin === undefined ? this.#makeRecovery(clock) : origin.#recovery;
    this.#runs = new RunStarter(this.#services, ({ result }) => {
      const at = result.status === 'yielded' ? firstExpiry(result.session.ledger) : null;
      if (at !== null) this.#recovery.wakeAt(at);
    });
    const reachable = reachableLedgers(this.store, this, origin !== undefined);
    this.requests = new RequestService({
      ledgers: (tenant) => this.#heeded(reachable(tenant)),
      clock,
      keys: options.approvals?.keys,
      findTool: (agentName, name) =>
        this.#services.registry.findTool(agentName, name) ?? this.tools.get(name),
      posted: (session) => this.posted(session),
    });
    if (options.store !== undefined && origin === undefined) this.recoverByItself();
  }

  /**
   * Whether what is streamed and not stored reaches followers in other processes too. It does not
   * while a pub/sub is away.
   */
  get carriesDeltas(): 'process' | 'everywhere' {
    return (this.#options.pubsub?.isConnected ?? this.#options.pubsub !== undefined)
      ? 'everywhere'
      : 'process';
  }

  /**
   * Whether it looks for runs that stopped without an end, and continues them, without being asked.
   */
  get recoversByItself(): boolean {
    return this.#recovery.isAutomatic;
  }

  /**
   * Looks for them from now on, also without a `store`, where runs that wait may be answered; but
   * not with `recover: 'manual'`. For servers.
   */
  recoverByItself(): void {
    if (mayRecoverByItself(this.#options)) this.#recovery.start();
  }

  #makeRecovery(clock: Clock): Recovery {
    const { recover } = this.#options;
    return new Recovery({
      due: (limit, asked) => {
        this.#tenants.forgetIdle();
        const tenant = asked ?? (this.#looksAfterAll ? undefined : this.tenant);
        return dueSessions(this.store, { app: this.app, tenant, limit });
      },
      clock,
      atOnce: typeof recover === 'object' ? recover.atOnce : undefined,
      resume: ({ tenant, session }) =>
        this.#ofTenant(tenant).#start(undefined, { session }, { isWorker: true, isFound: true }),
      isActive: ({ tenant, session }) => {
        const made: Runtime | undefined =
          tenant === this.tenant ? (this as unknown as Runtime) : this.#tenants.find(tenant);
        return (
          this.#tenants.isClosed(tenant) ||
          (made === undefined ? false : made.#runs.isActive(session))
        );
      },
      heedGivenBack: (onGivenBack) => this.#live.heedGivenBack(this.app, onGivenBack),
      sweep: () => this.store.admin.sweepBlobs(),
    });
  }

  /**
   * This app for another tenant: the same definitions, tools, hooks and store, and sessions of its
   * own. The same object for the same name. It looks after runs that have stopped in the sessions
   * of all tenants from then on, as with `tenants: true`. Closing it gives the runs of this tenant
   * back, and nothing of the tenant is continued by itself here until it is asked for again;
   * closing the runtime that it came from closes all.
   * @throws InvalidRuntimeError when the name is empty
   */
  forTenant(tenant: string): Runtime<OwnSchema> {
    checkTenant(tenant);
    if (tenant !== this.#origin.tenant && !this.#origin.#looksAfterAll) {
      this.#origin.#looksAfterAll = true;
      this.#recovery.hint();
    }
    return this.#origin.#ofTenant(tenant) as unknown as Runtime<OwnSchema>;
  }

  #ofTenant(tenant: string): Runtime {
    const origin = this as unknown as Runtime;
    if (tenant === this.tenant) return origin;
    return this.#tenants.get(tenant, () => {
      const options = { ...this.#options, tenant };
      origins.set(options, origin);
      return new Runtime(options);
    });
  }

  get #isOrigin(): boolean {
    return this.#origin === (this as unknown as Runtime);
  }

  protected override controlPorts(): LedgerPorts {
    return this.#ports();
  }

  protected override live(): LiveSessions {
    return this.#live;
  }

  get #ledgers(): LedgerStore {
    return this.#heeded(this.store.for({ tenant: this.tenant, app: this.app }));
  }

  /** Ledgers whose receipts set the clock. */
  #heeded(ledgers: LedgerStore): LedgerStore {
    const { clock } = this.#services;
    return clock instanceof StoreClock ? clock.heeding(ledgers) : ledgers;
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
   * Starts a run, or continues the open one of the session. The input of an open run is a message
   * to it.
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
   * Runs with somebody outside who answers what the run asks and says what comes next, until one of
   * the two has nothing more to say. Called again on the same session it goes on where the ledger
   * stands. Users come from `adjutant/testing`: `scriptedUser`, `humanUser`, `agentUser`.
   * @throws InvalidOptionError, UnansweredRequestError, UserAnswerRefusedError, whatever the user
   * throws, and what keeps a run from being carried out
   */
  async runWithUser<R extends Runnable>(
    runnable: R,
    options: RunWithUserOptions,
  ): Promise<ConversationResult<OutputOf<R>>> {
    checkRunnable(runnable);
    const { driveConversation } = await import('./conversation/drive.ts');
    return (await driveConversation(
      this as unknown as Runtime,
      runnable,
      options,
    )) as ConversationResult<OutputOf<R>>;
  }

  /**
   * Continues the run that a session has open, from what its ledger says. Its runnable must be
   * registered. @throws InvalidRunError
   */
  resume(
    session: AnySession | string,
    options: Omit<RunOptions, 'session' | 'input' | 'data'> = {},
  ): Run {
    sessionIdOf(session);
    return this.#start(undefined, checkedRunOptions({ ...options, session }));
  }

  #start(
    runnable: Runnable | undefined,
    options: RunOptions,
    more: Partial<RunRequest> = {},
    onEnd?: (end: RunEnd) => void,
  ): Run {
    const { session, onStream } = options;
    this.#assertOwn(session);
    let id: string | undefined;
    const open = async (fresh: boolean): Promise<Session> => {
      const opened = await this.#sessionFor(fresh ? id : session, runnable === undefined || fresh);
      id = opened.id;
      return opened;
    };
    const request = runRequest(runnable, options, { ids: this.#ids, limits: this.#options.limits });
    return this.#runs.start(open, { ...request, ...more }, onStream, onEnd);
  }

  /**
   * Carries the open run of a session on, as far as it goes without anybody outside: for workers
   * that do a little of many sessions. `done`, `failed` and `cancelled` say how the last run ended;
   * `waiting` names what it waits for; `more`: a round or slice was all it was to do.
   * @throws InvalidRunError; rejects with SessionNotFoundError, UnknownRunnableError,
   * LedgerMismatchError, StoreUnavailableError
   */
  async advance(session: AnySession | string, options: AdvanceOptions = {}): Promise<Advance> {
    checkAdvanceOptions(options);
    const { signal, until, slice } = options;
    let end: RunEnd | undefined;
    const run = this.#start(
      undefined,
      { session, ...(signal === undefined ? {} : { signal }) },
      { until, slice, isWorker: true },
      (reached) => {
        end = reached;
      },
    );
    try {
      const result = await run;
      return advanced(result, end?.more === true);
    } catch (error) {
      if (!isAdjutantError(error, 'no_open_run')) throw error;
      const opened = await this.#sessionFor(session, true);
      const last = lastResult(opened);
      return last === undefined ? { status: 'done', result: undefined } : advanced(last, false);
    }
  }

  /**
   * Finds runs that stopped without an end and continues them. With `recover: 'auto'` this happens
   * by itself.
   * @returns the runs that were taken up. @throws StoreUnavailableError
   */
  recover(): Promise<readonly Run[]> {
    return this.#recovery.look(
      this.#origin.#looksAfterAll && this.#isOrigin ? undefined : this.tenant,
    );
  }

  /**
   * Opens a run that failed or was cancelled again, or a part of it, so that `resume` goes on with
   * it: after a bug was fixed, or a limit raised. What has completed is not done again.
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
    if (active === undefined) this.#recovery.hint({ tenant: this.tenant, session });
    else active.poke();
  }

  #assertOwn(session: AnySession | string | undefined): void {
    const owner = typeof session === 'object' ? runtimes.get(session) : undefined;
    if (owner === undefined || (owner.app === this.app && owner.tenant === this.tenant)) return;
    const of = owner.app === this.app ? `the tenant "${owner.tenant}"` : `the app "${owner.app}"`;
    throw new InvalidRunError({
      reason: `the session belongs to ${of} of another runtime; run it there`,
    });
  }

  async #sessionFor(given: AnySession | string | undefined, mustExist: boolean): Promise<Session> {
    this.#assertOwn(given);
    if (typeof given === 'object') return given as Session;
    return given === undefined
      ? this.session()
      : (this.#open(given, {}, mustExist) as Promise<unknown> as Promise<Session>);
  }

  /**
   * Opens a session, or makes a new one. What is written through it belongs to this process until
   * it is flushed and given back.
   */
  async session<Schema extends StateSchema = OwnSchema>(
    options: SessionOptions<Schema> = {},
  ): Promise<Session<Schema>> {
    checkSessionOptions(options as SessionOptions);
    const session = await this.#open(options.id ?? `session_${this.#ids.next()}`, options, false);
    if (options.permissions !== undefined) await this.#grantTo(session.ledger, options.permissions);
    return session;
  }

  async #grantTo(ledger: Ledger, permissions: readonly string[]): Promise<void> {
    const missing = notGranted(ledger.events, permissions);
    if (missing.length === 0) return;
    // What this process does not write may be another's at the moment.
    if (ledger.claim === undefined && ledger.durableSeq > 0)
      await this.grant(ledger.session, missing);
    else ledger.append([grantDraft('grant', { permissions: missing, by: 'operator' })]);
  }

  #open<Schema extends StateSchema>(
    id: string,
    options: SessionOptions<Schema>,
    mustExist: boolean,
  ): Promise<Session<Schema>> {
    return this.#sessions.inTurn(id, () => this.#openSession(id, options, mustExist));
  }

  async #openSession<Schema extends StateSchema>(
    id: string,
    options: SessionOptions<Schema>,
    mustExist: boolean,
  ): Promise<Session<Schema>> {
    const store = this.#ledgers;
    const open = this.#sessions.get(id);
    const head = await store.head(id);
    await syncClock(this.#services.clock, store, Number.POSITIVE_INFINITY);
    if (head === undefined && mustExist)
      throw new SessionNotFoundError({ session: id, app: this.app });
    if (
      open !== undefined &&
      open.ledger.failure === undefined &&
      this.#isCurrent(open.ledger, head?.seq ?? 0)
    ) {
      if (options.existing === 'fail') throw new SessionExistsError({ session: id });
      if (
        options.scopes === undefined &&
        options.userId === undefined &&
        options.stateSchema === undefined
      )
        return open as unknown as Session<Schema>;
      // The same ledger, seen with the scopes and types that were asked for.
      return this.#view(open.ledger, options);
    }
    const exists = head !== undefined;
    if (exists && options.existing === 'fail') throw new SessionExistsError({ session: id });
    const ledger = exists
      ? await this.#openStored(id, head)
      : await newLedger(id, this.#ports(store));
    const session = await this.#view(ledger, options);
    if (options.observe !== false) this.#sessions.add(id, session as unknown as Session);
    return session;
  }

  async #openStored(id: string, head: LedgerHead): Promise<Ledger> {
    const ports = this.#ports();
    const ledger = await openLedger(id, ports);
    if (!isUnrecordedFork(id, head, ledger.invocations.outside)) return ledger;
    await recordFork(ports, { session: id, shared: 'isolated', at: head.seq });
    return openLedger(id, ports);
  }

  /**
   * Whether a ledger in memory is the stored one: this process writes it, or nobody has written
   * since it was read.
   */
  #isCurrent(ledger: Ledger, storedSeq: number): boolean {
    return (
      this.#runs.isActive(ledger.session) ||
      ledger.claim !== undefined ||
      ledger.durableSeq === storedSeq
    );
  }

  async #view<Schema extends StateSchema>(
    ledger: Ledger,
    options: SessionOptions<Schema>,
  ): Promise<Session<Schema>> {
    const scopes = {
      ...recordedScopes(ledger.events),
      ...options.scopes,
      ...(options.userId === undefined ? {} : { user: options.userId }),
    };
    // What a replayed session sees of others is in its record.
    const isolated = ledger.ports.tape !== undefined || isIsolated(ledger.invocations.outside);
    const session = this.#wrap<Schema>(
      ledger,
      scopes,
      options.stateSchema ?? this.#options.stateSchema,
      isolated,
    );
    if (options.observe !== false) await session.observeShared();
    return session;
  }

  #wrap<Schema extends StateSchema>(
    ledger: Ledger,
    scopes: ScopeIds,
    schema: StateSchema | undefined,
    isolated = false,
  ): Session<Schema> {
    const shared = new SharedState(ledger.ports.store, scopes, {
      recorded: Object.keys(recordedScopes(ledger.events)),
      isolated,
    });
    const made = new Session<Schema>({
      app: this.app,
      ledger,
      shared,
      schema,
      restore,
      checkAnswer: this.requests.check,
    });
    runtimes.set(made, this as unknown as Runtime);
    return made;
  }

  /**
   * Makes a session of this app from a snapshot, under the snapshot's id. @throws
   * SessionExistsError when the id is in use
   */
  async restoreSession<Schema extends StateSchema = StateSchema>(
    snapshot: SessionSnapshot | LooseSnapshot,
    schema?: Schema,
  ): Promise<Session<Schema>> {
    const id = snapshot.id ?? `session_${this.#ids.next()}`;
    if ((await this.#ledgers.head(id)) !== undefined) throw new SessionExistsError({ session: id });
    // What nobody else can open needs no record of it.
    const session = this.#fill(
      snapshot,
      await newLedger(id, this.#ports()),
      schema,
      this.#options.store !== undefined,
    );
    await session.flush();
    this.#sessions.add(id, session);
    return session as unknown as Session<Schema>;
  }

  #fill(
    snapshot: SessionSnapshot | LooseSnapshot,
    ledger: Ledger,
    schema: StateSchema | undefined,
    lasts = false,
  ): Session {
    ledger.restore(snapshot.events ?? [], snapshot.blobs ?? {});
    const observed = looseState(snapshot);
    const named = Object.fromEntries(observed.map(({ scope }) => [scope, ledger.session]));
    // A copy keeps the shared state that it was made with, and its writes to itself.
    const session = this.#wrap(
      ledger,
      { ...named, ...recordedScopes(ledger.events), ...snapshot.scopes },
      schema ?? this.#options.stateSchema,
      true,
    );
    const drafts = [...(lasts ? copyDecisions(ledger, session.shared.names) : []), ...observed];
    if (drafts.length > 0) ledger.append(drafts);
    return session;
  }

  /**
   * A runtime of the same definitions that goes on from the first events of a record and is held
   * against the rest of it; for `replay`.
   * @throws LedgerUnreadableError
   */
  static async replaying(app: Runtime, replayed: ReplayedLedger): Promise<Runtime> {
    const { runnables } = app;
    const options: RuntimeOptions = {
      ...replayOptions(app.#options, replayed),
      store: memoryStore({ clock: replayed.clock }),
      runnables,
    };
    const made = new Runtime(options);
    const ledger = await newLedger(replayed.session, made.#ports());
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
  static fill(
    runtime: Runtime,
    snapshot: SessionSnapshot,
    schema: StateSchema | undefined,
  ): Session {
    return runtime.#fill(snapshot, new Ledger(snapshot.id, runtime.#ports(), []), schema);
  }

  /**
   * Makes a session that shares the events up to `at` with another one and goes its own way from
   * there. The store copies nothing. What was done in the shared part stays done; calls of which
   * nobody knows the outcome are answered by their tools' `recovery`, as after a crash.
   * @throws SessionNotFoundError, SessionExistsError, SeqOutOfRangeError
   */
  async fork(sessionId: string, options: ForkOptions = {}): Promise<Session<OwnSchema>> {
    checkForkOptions(options);
    const open = this.#sessions.get(sessionId);
    if (open?.ledger.failure === undefined) await open?.ledger.durable();
    const { id = `session_${this.#ids.next()}`, shared = 'isolated', at, by } = options;
    await makeFork(this.#ports(), sessionId, {
      id,
      shared,
      by,
      ...(at === undefined ? {} : { at }),
    });
    return this.session({ id });
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

  /**
   * What runs are asked for by name: the runnables that were registered, and everything that they
   * contain.
   */
  get runnables(): readonly Runnable[] {
    const { registry } = this.#services;
    return registry.names.map((name) => registry.get(name));
  }

  /**
   * Gives all runs and what they dispatched back without ending them, waits for that, and closes
   * store and pub/sub unless it is for one tenant of an app.
   */
  async close(): Promise<void> {
    if (!this.#isOrigin) {
      this.#tenants.close(this.tenant);
      return this.#giveBack();
    }
    this.#recovery.stop();
    const givenBack = await Promise.allSettled([
      this.#giveBack(),
      ...this.#tenants.all().map((made) => made.#giveBack()),
    ]);
    await this.store.close();
    await this.#options.pubsub?.close();
    for (const one of givenBack) if (one.status === 'rejected') throw one.reason;
  }

  async #giveBack(): Promise<void> {
    await this.#runs.stop();
    for (const { ledger } of this.#sessions.all())
      if (ledger.failure === undefined) await ledger.release();
  }
}

const restore = (snapshot: SessionSnapshot, schema: StateSchema | undefined): Session =>
  Runtime.fill(new Runtime({ app: snapshot.app }), snapshot, schema);

/** Makes an app that sessions and runs belong to. */
export const runtime = <Schema extends StateSchema = StateSchema>(
  options: RuntimeOptions<Schema>,
): Runtime<Schema> => new Runtime(options);

/** The runtime that options are for another tenant of. */
const origins = new WeakMap<RuntimeOptions, Runtime>();

/** The runtime that a session came from: `run(runnable, { session })` runs there. */
const runtimes = new WeakMap<AnySession, Runtime>();

/** The runtime that a session came from; for anything else a new one in memory. */
export function runtimeOf(session: AnySession | string | undefined): Runtime {
  return (
    (typeof session === 'object' ? runtimes.get(session) : undefined) ?? new Runtime({ app: 'app' })
  );
}
