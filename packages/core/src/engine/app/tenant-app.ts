import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { Host } from '../../base/host.ts';
import type { IdSource } from '../../base/id.ts';
import { type EventToPublish, publishedEvent } from '../../effects/publish/published-event.ts';
import { endSends, type TaskData } from '../../ledger/folds/task.ts';
import type { Ledger, LedgerPorts } from '../../ledger/ledger.ts';
import type { LedgerStore, Store, StoredRow } from '../../ledger/port.ts';
import type { LedgerRecording } from '../../ledger/recording.ts';
import { StoreClock, syncClock } from '../../ledger/store-clock.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { AnySession, Session, SessionParts } from '../../session/session.ts';
import type { Toolset } from '../../tools/toolset.ts';
import type { AppServices, StreamedRun } from '../frame/app-services.ts';
import type { RunOptions } from '../frame/run-options.ts';
import type { LiveSessions } from '../live/live-sessions.ts';
import type { ApprovalLinks } from '../requests/links.ts';
import { RequestService } from '../requests/service.ts';
import { type OnRequest, RequestTelling } from '../requests/telling.ts';
import {
  type Advance,
  type AdvanceOptions,
  advanced,
  checkAdvanceOptions,
} from '../run/advance.ts';
import type { RunEnd } from '../run/execute-run.ts';
import type { Run } from '../run/run.ts';
import type { RunRequest } from '../run/run-request.ts';
import { runRequest } from '../run/run-request.ts';
import { lastResult } from '../run/run-result.ts';
import { RunStarter } from '../run/starter.ts';
import { nextWake } from '../run/waiting/request-teller.ts';
import type { ServicesOfApp } from '../services/app-services.ts';
import { assertNotReserved } from '../services/errors.ts';
import { channelFault } from '../services/notices.ts';
import type { RequestNews } from '../services/service.ts';
import { publication } from '../services/topics.ts';
import { workDefaults } from '../tasks/profile.ts';
import { TaskService } from '../tasks/task-service.ts';
import type { ResumeArguments } from './resume-arguments.ts';
import { defaultLeaseMs, type RuntimeOptions } from './runtime-options.ts';
import { SessionControl } from './session-control.ts';
import { SessionOpener } from './session-opener.ts';
import { defaultSlots, type SessionRecovery } from './session-recovery.ts';
import { slotsOf, takeScope } from './taking.ts';
import { reachableLedgers } from './tenants.ts';

/** Parts of an app that its tenants share. */
export interface AppParts {
  readonly app: string;
  readonly options: RuntimeOptions;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly host: Host;
  readonly owner: string;
  readonly store: Store;
  readonly tools: Toolset;
  readonly live: LiveSessions;
  readonly services: Omit<AppServices, 'resumeRun' | 'publishStream' | 'telling'>;
  readonly recovery: SessionRecovery;
  readonly ownServices: ServicesOfApp;
  readonly links: ApprovalLinks;
  /** The app for another tenant. */
  tenant(name: string): { readonly requests: RequestService };
  /** Record that a replay is compared with. */
  readonly recording: LedgerRecording | undefined;
  readonly restore: SessionParts['restore'];
}

/** App for one tenant: its sessions, runs and requests. */
export class TenantApp {
  readonly app: string;
  readonly tenant: string;
  readonly services: AppServices;
  readonly requests: RequestService;
  readonly sessions: SessionOpener;
  readonly control: SessionControl;
  readonly tasks: TaskService;
  readonly #shared: AppParts;
  readonly #runs: RunStarter;

  /**
   * Makes the app for one tenant.
   * @param isHome true when the app reaches the requests of all tenants, not only of its own
   */
  constructor(shared: AppParts, tenant: string, isHome: boolean) {
    const { app, clock, host, ids, live, options, restore, services, store, tools } = shared;
    this.#shared = shared;
    this.app = app;
    this.tenant = tenant;
    const reachable = reachableLedgers(store, this, !isHome);
    const { registry } = services;
    this.requests = new RequestService({
      ledgers: (of) => this.#clocked(reachable(of)),
      app,
      clock,
      tenant,
      approvals: options.approvals,
      links: shared.links,
      ofTenant: (name) => (isHome ? shared.tenant(name).requests : undefined),
      findTool: (agentName, name) => registry.findTool(agentName, name) ?? tools.get(name),
      posted: (session) => this.posted(session),
    });
    this.services = {
      ...services,
      telling: this.#telling(joinedTelling(options.onRequest, shared.ownServices.onRequest)),
      resumeRun: (session, lane) => shared.recovery.resumeHeld({ tenant, session, lane }),
      publishStream: (run: StreamedRun, ledger: Ledger) => live.publishStream(this, run, ledger),
    };
    this.#runs = new RunStarter(this.services, ({ result }) => {
      const { ledger } = result.session;
      const at = result.status === 'yielded' ? nextWake(ledger, this.services.telling) : null;
      if (at !== null) shared.recovery.wakeAt(at, { tenant, session: ledger.session });
    });
    const isActive = (session: string): boolean => this.isActive(session);
    this.sessions = new SessionOpener({
      home: this,
      clock,
      ids,
      host,
      stateSchema: options.stateSchema,
      isShared: options.store !== undefined,
      ledgers: () => this.ledgers,
      ledgerPorts: (ledgers) => this.ledgerPorts(ledgers),
      isActive,
      checkAnswer: this.requests.check,
      restore,
      registry,
      postGrant: (session, permissions) =>
        this.control.changeGrants('grant', session, permissions, {}),
    });
    this.tasks = this.#taskService();
    this.control = new SessionControl({
      clock,
      ledgerPorts: () => this.ledgerPorts(),
      opened: (session) => this.sessions.forRun(session, true),
      isActive,
      posted: (session) => this.posted(session),
      cancelled: (session) => this.posted(session, true),
      due: () => shared.recovery.hint(),
    });
  }

  #taskService(): TaskService {
    const { app, tenant } = this;
    const { clock, host, ids, live, options, recovery, services } = this.#shared;
    const work = workDefaults(options.work);
    return new TaskService({
      app,
      tenant,
      clock,
      ids,
      host,
      work,
      ledgers: () => this.ledgers,
      scope: () => takeScope(options, services.registry),
      slots: slotsOf(options) ?? defaultSlots,
      channelFault: (option, channels) =>
        channelFault(option, channels, this.#shared.ownServices.channels),
      register: (runnable) => services.registry.register(runnable),
      checkSession: assertNotReserved,
      follow: (session, signal) => live.follow(this, this.ledgers, session, { signal }),
      queued: (session, level) => {
        recovery.hint({ tenant, session }, { isQueued: true, ...defined({ level }) });
        live.announceWork(app);
      },
      posted: (session) => this.posted(session),
    });
  }

  #telling(onRequest: OnRequest | undefined): RequestTelling | undefined {
    if (onRequest === undefined) return undefined;
    const { clock, host } = this.#shared;
    return new RequestTelling({
      onRequest,
      tenant: this.tenant,
      requests: this.requests,
      ledgers: () => this.ledgers,
      clock,
      host,
      posted: (session) => this.posted(session),
    });
  }

  /** Stored ledgers of the tenant. */
  get ledgers(): LedgerStore {
    return this.#clocked(this.#shared.store.for({ tenant: this.tenant, app: this.app }));
  }

  /** Wraps ledgers so that their receipts set the clock. */
  #clocked(ledgers: LedgerStore): LedgerStore {
    const { clock } = this.services;
    return clock instanceof StoreClock ? clock.heeding(ledgers) : ledgers;
  }

  ledgerPorts(store: LedgerStore = this.ledgers): LedgerPorts {
    const { host, ids, options, owner, recording } = this.#shared;
    return {
      store,
      scope: { tenant: this.tenant, app: this.app },
      clock: this.services.clock,
      ids,
      host,
      owner,
      leaseMs: options.lease?.ttlMs ?? defaultLeaseMs,
      recording,
      onSends: (session) => this.#shared.ownServices.outbox.hint(this.tenant, session),
    };
  }

  /** True when no run of the tenant has work under way in this process. */
  get isIdle(): boolean {
    return this.#runs.isIdle;
  }

  /** True while this process carries out a run of the session, in a lane or in any. */
  isActive(session: string, lane?: string): boolean {
    return this.#runs.isActive(session, lane);
  }

  /** Makes the runs of the session read its inbox at once; without a run here, recovery does. */
  posted(session: string, isCancel = false): void {
    const active = this.#runs.active(session);
    const { recovery } = this.#shared;
    const place = { tenant: this.tenant, session };
    if (active.length > 0) for (const run of active) run.poke();
    else if (isCancel) recovery.cancel(place);
    else recovery.hint(place);
  }

  /**
   * Starts a run of `runnable`; without one, continues the open run of the session.
   * @param onEnd called with the progress of the run, which its result does not contain
   */
  start(
    runnable: Runnable | undefined,
    options: RunOptions,
    more: Partial<RunRequest> = {},
    onEnd?: (end: RunEnd) => void,
  ): Run {
    const { session, onStream } = options;
    this.sessions.assertOwn(session);
    let id: string | undefined;
    const open = async (fresh: boolean): Promise<Session> => {
      const mustExist = runnable === undefined || fresh;
      const opened = await this.sessions.forRun(fresh ? id : session, mustExist);
      id = opened.id;
      return opened;
    };
    const { ids, options: app } = this.#shared;
    const request = runRequest(runnable, options, { ids, limits: app.limits });
    return this.#runs.start(open, { ...request, ...more }, onStream, onEnd);
  }

  /**
   * Continues the open run of a session.
   * @throws DuplicateRunnableError
   */
  resume({ continues, options }: ResumeArguments): Run {
    if (continues !== undefined) this.services.registry.register(continues);
    return this.start(undefined, options, { continues });
  }

  /** Tells the sessions that wait for the ends of tasks that these come to no end. */
  async tasksDeleted(rows: readonly StoredRow[]): Promise<void> {
    for (const { body, session } of rows) {
      const task = body['task'] as unknown as TaskData;
      const end = {
        session,
        status: 'deleted',
        attempts: 0,
        at: this.#shared.clock.now(),
      } as const;
      for (const { item, to, ...options } of endSends(task, end)) {
        await this.ledgers.post(to, item, options);
        this.#shared.recovery.hint();
      }
    }
  }

  /** @throws InvalidBusEventError, StoreUnavailableError */
  async publish(given: EventToPublish): Promise<{ readonly id: string }> {
    const { clock, ids, ownServices } = this.#shared;
    await syncClock(clock, this.ledgers);
    const event = publishedEvent(given, { id: ids.next(), at: clock.now() });
    await ownServices.post(this.tenant, publication(event));
    return { id: event.id };
  }

  async advance(session: AnySession | string, options: AdvanceOptions): Promise<Advance> {
    checkAdvanceOptions(options);
    const { lane, signal, until, sliceMs } = options;
    let end: RunEnd | undefined;
    const request = { until, sliceMs, isWorker: true, isOfAnyLane: lane === undefined };
    const of = { session, ...defined({ lane, signal }) };
    const run = this.start(undefined, of, request, (reached) => {
      end = reached;
    });
    try {
      const result = await run;
      return advanced(result, end?.more === true, this.services.telling);
    } catch (error) {
      if (!isAdjutantError(error, 'no_open_run')) throw error;
      const opened = await this.sessions.forRun(session, true);
      const last = lastResult(opened, lane);
      return last === undefined
        ? { status: 'done', result: undefined }
        : advanced(last, false, undefined);
    }
  }

  /** Stops all runs without ending them, and releases all sessions. */
  async release(): Promise<void> {
    await this.#runs.stop();
    await this.sessions.releaseAll();
  }
}

/** Tells the app and its part for notices of a request; one that fails does not stop the other. */
function joinedTelling(
  onRequest: OnRequest | undefined,
  ofPart: ((news: RequestNews) => Promise<void>) | undefined,
): OnRequest | undefined {
  if (ofPart === undefined) return onRequest;
  return async (news) => {
    const { expiresAt, requestId, summary: message, user } = news.request;
    const { session, tenant } = news;
    const told = await Promise.allSettled([
      ofPart({ tenant, session, requestId, message, user, expiresAt }),
      (async () => onRequest?.(news))(),
    ]);
    for (const one of told) if (one.status === 'rejected') throw one.reason;
  };
}
