import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import { type Host, systemHost } from '../../base/host.ts';
import type { IdSource } from '../../base/id.ts';
import { visibleLine } from '../../base/text/visible-text.ts';
import { newLedger } from '../../ledger/open-ledger.ts';
import {
  isServiceSession,
  kindOfService,
  serviceQueue,
} from '../../ledger/port/service-sessions.ts';
import type { SessionSearch } from '../../ledger/port/session-search.ts';
import type { Store, Taken } from '../../ledger/port.ts';
import type { LedgerRecording } from '../../ledger/recording.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { AnySession, SessionParts } from '../../session/session.ts';
import { type Toolset, toolset } from '../../tools/toolset.ts';
import type { Engine } from '../drive/engine.ts';
import { InvalidRuntimeError } from '../frame/errors.ts';
import { type LiveSessions, liveSessionsOf } from '../live/live-sessions.ts';
import { ApprovalLinks } from '../requests/links.ts';
import type { Run } from '../run/run.ts';
import { ServicesOfApp } from '../services/app-services.ts';
import { workDefaults } from '../tasks/profile.ts';
import { EmbeddedSearch } from './embedded-search.ts';
import { type ReplayedLedger, replayOptions } from './replayed-ledger.ts';
import {
  checkedOptions,
  clockOf,
  defaultLeaseMs,
  type RuntimeOptions,
  withEnvironment,
} from './runtime-options.ts';
import { appServices } from './services.ts';
import { homeOf } from './session-opener.ts';
import { SessionRecovery } from './session-recovery.ts';
import { claimOf, mayRecoverByItself, slotsOf, takeScope } from './taking.ts';
import { type AppParts, TenantApp } from './tenant-app.ts';
import { checkTenant, Tenants } from './tenants.ts';
import { WorkerTurn } from './worker-turn.ts';

/**
 * Makers of the parts of an app that its options do not supply; the composition root knows them.
 */
export interface AppMakers {
  readonly memoryStore: (clock: Clock) => Store;
  readonly processOwner: (ids: IdSource) => string;
}

/** Pause in milliseconds before an engine that could not be started is started again. */
const engineRetryMs = 5_000;

/** App for one tenant, with the parts that it shares with the others. */
export interface AppPlace {
  readonly shared: SharedApp;
  readonly own: TenantApp;
}

const places = new WeakMap<object, AppPlace>();

/** Returns the app that opened a session; `undefined` when it was not opened by one. */
export function placeOf(session: AnySession): AppPlace | undefined {
  const home = homeOf(session);
  return home === undefined ? undefined : places.get(home);
}

/** App with all of its tenants: the store, the definitions and the recovery that they share. */
export class SharedApp implements AppParts {
  readonly app: string;
  readonly options: RuntimeOptions;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: Host;
  readonly owner: string;
  readonly store: Store;
  readonly search: SessionSearch;
  readonly tools: Toolset;
  readonly live: LiveSessions;
  readonly services: AppParts['services'];
  readonly recovery: SessionRecovery;
  /** Triggers, notifications, events, and the messages between ledgers. */
  readonly ownServices: ServicesOfApp;
  readonly links: ApprovalLinks;
  readonly restore: SessionParts['restore'];
  /** App for the tenant that the options name. */
  readonly home: TenantApp;
  recording: LedgerRecording | undefined;
  readonly #makers: AppMakers;
  readonly #tenants: Tenants<TenantApp>;
  #coversAllTenants: boolean;
  #isClosed = false;

  /**
   * Makes an app; with a given store it starts recovery, unless the options forbid it.
   * @throws InvalidRuntimeError, DuplicateRunnableError, DuplicateToolError
   */
  constructor(options: RuntimeOptions, makers: AppMakers) {
    this.options = withEnvironment(checkedOptions(options));
    const { app, tenant = 'default', ports = {} } = this.options;
    this.app = app;
    this.#makers = makers;
    this.#coversAllTenants = options.tenants === true;
    this.clock = clockOf(options);
    this.host = ports.host ?? systemHost;
    this.#tenants = new Tenants(this.clock, this.host, (made) => !made.isIdle);
    this.ids = ports.ids ?? this.host.ids;
    this.store = options.store ?? makers.memoryStore(this.clock);
    this.search = options.search ?? new EmbeddedSearch(this.store);
    this.live = liveSessionsOf(this.store, options.pubsub, this.host);
    this.tools = toolset(options.tools ?? [], `The app "${app}"`);
    this.owner = this.host.owner ?? makers.processOwner(this.ids);
    this.services = appServices(options, { clock: this.clock, tools: this.tools });
    this.restore = (snapshot, schema) =>
      new SharedApp({ app: snapshot.app }, makers).home.sessions.copy(snapshot, schema);
    this.links = new ApprovalLinks(options.approvals?.url);
    this.recovery = this.#makeRecovery(tenant);
    this.ownServices = this.#makeServices();
    this.home = this.#make(tenant, true);
    if (options.store !== undefined) this.#startEngine();
  }

  /**
   * Starts to look for stopped runs, unless the options or the environment forbid it.
   * @param engine @default that of the options
   * @throws InvalidRuntimeError when another engine has started; errors of the engine
   */
  async recoverByItself(engine?: Engine): Promise<void> {
    if (!mayRecoverByItself(this.options, engine)) return;
    if (engine !== undefined && this.recovery.isAutomatic && this.recovery.engine !== engine)
      throw new InvalidRuntimeError({
        reason:
          `its engine "${this.recovery.engine.name}" has started, so "${engine.name}" cannot ` +
          'take its place. Give the engine as the option `engine`.',
      });
    await this.recovery.start(engine);
  }

  /**
   * Starts the engine of the options, again until it succeeds. Nobody waits for it, so a failure is
   * a warning.
   */
  #startEngine(): void {
    void this.recoverByItself().catch((error: unknown) => {
      if (this.#isClosed) return;
      const message = error instanceof Error ? error.message : String(error);
      const warningCode = isAdjutantError(error) ? error.code : 'engine_failed';
      this.host.warn(visibleLine(`The engine could not be started: ${message}`), warningCode);
      this.host.setBackgroundTimer(engineRetryMs, () => {
        if (!this.#isClosed) this.#startEngine();
      });
    });
  }

  /** Continues stopped runs now: those of all tenants that the app covers, or of one tenant. */
  async recover(from: TenantApp): Promise<readonly Run[]> {
    const tenant = this.#coversAllTenants && from === this.home ? undefined : from.tenant;
    await this.ownServices.finish(tenant, this.home.tenant);
    return this.recovery.look(tenant);
  }

  /**
   * Returns the app for a tenant: the same object as long as it is referenced or works on a run.
   * From then on the app continues the runs of all tenants.
   * @throws InvalidRuntimeError when the name is empty
   */
  tenant(name: string): TenantApp {
    checkTenant(name);
    if (name !== this.home.tenant && !this.#coversAllTenants) {
      this.#coversAllTenants = true;
      this.recovery.hint();
    }
    return this.#of(name);
  }

  #of(tenant: string): TenantApp {
    if (tenant === this.home.tenant) return this.home;
    return this.#tenants.get(tenant, () => this.#make(tenant, false));
  }

  #make(tenant: string, isHome: boolean): TenantApp {
    const own = new TenantApp(this, tenant, isHome);
    places.set(own, { shared: this, own });
    return own;
  }

  #makeRecovery(home: string): SessionRecovery {
    const { work } = this.options;
    return new SessionRecovery({
      take: ({ tenant, ...request }) => {
        this.#tenants.forgetIdle();
        const of = tenant ?? (this.#coversAllTenants ? undefined : home);
        return this.store.admin.take({
          ...takeScope(this.options, this.services.registry),
          ...request,
          ...defined({ tenant: of }),
          app: this.app,
          owner: this.owner,
          ticket: this.ids.next(),
          ttlMs: this.options.lease?.ttlMs ?? defaultLeaseMs,
        });
      },
      giveBack: (taken, at) =>
        this.store
          .for({ tenant: taken.tenant, app: this.app })
          .release(claimOf(taken, this.owner), { turn: { to: 'ready', at } }),
      isQueued: async ({ tenant, session }) =>
        (await this.store.for({ tenant, app: this.app }).turn(session)) !== undefined,
      app: this.app,
      clock: this.clock,
      host: this.host,
      engine: this.options.engine,
      atOnce: slotsOf(this.options),
      realtimeAtOnce: work?.reserve?.realtime,
      isGateClosed: work?.isRealtimeActive,
      resume: ({ tenant, session, lane }, taken) => {
        const request = { isWorker: true, isFound: true, isOfAnyLane: lane === undefined };
        const turn = taken === undefined ? undefined : this.#workerTurn(taken);
        const more = { ...request, ...defined({ lane, turn }) };
        return this.#of(tenant).start(undefined, { session }, more);
      },
      isActive: ({ tenant, session, lane }) => {
        const made = tenant === home ? this.home : this.#tenants.find(tenant);
        return this.#tenants.isClosed(tenant) || (made?.isActive(session, lane) ?? false);
      },
      lookAtServices: async (tenant) => {
        const of = tenant ?? (this.#coversAllTenants ? undefined : home);
        // Services that are found while the app is asked once are finished before.
        if (this.recovery.isAutomatic) await this.ownServices.look(of, home);
      },
      onReleased: (listener) =>
        this.live.onReleased(this.app, () => {
          this.ownServices.hint();
          listener();
        }),
      sweep: () => this.store.admin.sweepBlobs(),
    });
  }

  #makeServices(): ServicesOfApp {
    const { bus, notifications, tenant: home = 'default', triggers, work } = this.options;
    const parts = [triggers, notifications].flatMap((part) => part ?? []);
    return new ServicesOfApp({
      parts,
      ...{ app: this.app, home, clock: this.clock, ids: this.ids, host: this.host },
      admin: this.store.admin,
      registry: this.services.registry,
      work: workDefaults(work),
      ledgers: (tenant) => this.#of(tenant).ledgers,
      ledgerPorts: (tenant) => this.#of(tenant).ledgerPorts(),
      take: ({ tenant, names, slots }) =>
        this.store.admin.take({
          ...{ app: this.app, owner: this.owner, ticket: this.ids.next(), names, slots },
          ...defined({ tenant }),
          queues: [serviceQueue],
          ttlMs: this.options.lease?.ttlMs ?? defaultLeaseMs,
        }),
      giveBack: (taken, at) =>
        this.#of(taken.tenant).ledgers.release(claimOf(taken, this.owner), {
          turn: { to: 'ready', at },
        }),
      requestLink: async (tenant, requestId) =>
        this.options.approvals?.url === undefined
          ? undefined
          : this.#of(tenant).requests.link(requestId),
      live: async (event) => bus?.publish({ source: this.app, data: null, ...event }),
      wakeAt: (at, of) =>
        of !== undefined && kindOfService(of.session) === 'trigger'
          ? this.recovery.wakeAt(at, of, { repeats: true })
          : this.recovery.wakeAt(at),
      lookAgain: () => this.recovery.hint(),
      posted: ({ tenant, session }) => {
        if (isServiceSession(session)) {
          this.ownServices.hint();
          this.recovery.hint();
          this.live.announceWork(this.app);
        } else this.#of(tenant).posted(session);
      },
    });
  }

  #workerTurn(taken: Taken): WorkerTurn {
    return new WorkerTurn(taken, {
      clock: this.clock,
      isGateClosed: () => this.recovery.isGateClosed(),
      takeAbove: (levels) => this.recovery.takeAbove(levels),
      begin: (above) => void this.recovery.begin(above),
    });
  }

  /**
   * Releases the runs of one tenant; for the home of the app, releases all and closes the store.
   */
  async close(from: TenantApp): Promise<void> {
    if (from !== this.home) {
      this.#tenants.close(from.tenant);
      return from.release();
    }
    this.#isClosed = true;
    await this.recovery.stop();
    await this.ownServices.stop();
    const released = await Promise.allSettled(
      [this.home, ...this.#tenants.all()].map((made) => made.release()),
    );
    await this.store.close();
    await this.options.pubsub?.close();
    for (const one of released) if (one.status === 'rejected') throw one.reason;
  }

  /** Registered runnables, with all runnables that they contain. */
  get runnables(): readonly Runnable[] {
    const { registry } = this.services;
    return registry.names.map((name) => registry.get(name));
  }

  /**
   * Makes an app of the same definitions that continues the first events of a record, for `replay`.
   * Its run is compared with the rest of the record.
   * @throws LedgerUnreadableError
   */
  async replaying(replayed: ReplayedLedger): Promise<SharedApp> {
    const store = this.#makers.memoryStore(replayed.clock);
    const options = { ...replayOptions(this.options, replayed), store, runnables: this.runnables };
    const made = new SharedApp(options, this.#makers);
    const ledger = await newLedger(replayed.session, made.home.ledgerPorts());
    ledger.restore(replayed.events, replayed.blobs);
    await ledger.release();
    made.recording = replayed.recording;
    return made;
  }
}
