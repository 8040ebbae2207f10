import { InvalidOptionError } from '../../base/invalid-option.ts';
import { isFunction } from '../../base/options.ts';
import type { Around } from '../../runnables/operation.ts';
import type { StateSchema } from '../../session/state-types.ts';
import type { Engine, EngineHealth } from '../drive/engine.ts';
import type { Run } from '../run/run.ts';
import { SessionService } from './session-service.ts';
import type { AppPlace, SharedApp } from './shared-app.ts';

/** The same app for other tenants: `app.tenants`. */
export interface RuntimeTenants<App> {
  /**
   * This app for another tenant: the same definitions, tools, hooks and store, and sessions of its
   * own. The same object for the same name. The app looks after stopped runs of all tenants from
   * then on, as with `tenants: true`. Closing the object releases the runs of this tenant, and
   * nothing of the tenant is continued here until it is asked for again. Closing the runtime that
   * it came from closes all.
   * @throws InvalidRuntimeError when the name is empty
   */
  get(tenant: string): App;
}

/** The search for runs that stopped without an end: `app.recovery`. */
export interface RuntimeRecovery {
  /** True when the app looks for stopped runs, and continues them, without being asked. */
  readonly isAutomatic: boolean;
  /**
   * Looks for stopped runs from now on, also without a `store`, where waiting runs may be answered;
   * but not with `recover: 'manual'`. For servers. Calls without an engine need not be awaited.
   * @param engine keeps runs moving. @default that of the option `engine`
   * @throws InvalidRuntimeError when another engine has started; errors of the engine
   */
  start(engine?: Engine): Promise<void>;
  /** Tells whether the engine of the app keeps its runs moving. */
  health(): Promise<EngineHealth>;
  /**
   * Continues all runs that stopped without an end, once. With `recover: 'auto'` this happens by
   * itself.
   * @returns the continued runs
   * @throws StoreUnavailableError
   */
  resumeStopped(): Promise<readonly Run[]>;
}

/** Work of the app as it happens, streamed and not stored: `app.streams`. */
export interface RuntimeStreams {
  /**
   * Tells which followers get the parts of answers: those of this process, or of all. `process`
   * also while the pub/sub is away.
   */
  readonly reach: 'process' | 'everywhere';
  /**
   * Keeps the parts of answers from now on, so that a follower who comes in the middle of an answer
   * gets its beginning. Done by `pubsub` and by the first `follow`; for servers, whose clients come
   * after the runs that they start.
   */
  keep(): void;
  /**
   * Wraps the work of all runs that this process carries out from now on, of all tenants and
   * whoever asked for them, as `around` of middleware does. It lies outside all middleware. For
   * servers, which measure apps that others made.
   * @returns a function that ends it for later runs
   * @throws InvalidOptionError
   */
  observe(around: Around): () => void;
}

/** Makes `app.sessions` for the app of a tenant. */
export function sessionsOf<Schema extends StateSchema>({
  own,
  shared,
}: AppPlace): SessionService<Schema> {
  return new SessionService<Schema>({
    app: own.app,
    tenant: own.tenant,
    ledgers: () => own.ledgers,
    search: () => shared.search,
    ledgerPorts: () => own.ledgerPorts(),
    open: (options) => own.sessions.open(options),
    restore: (snapshot, schema) => own.sessions.restore(snapshot, schema),
    fork: (sessionId, options) => own.sessions.fork(sessionId, options),
    forgetDeleted: () => own.sessions.forgetDeleted(),
    tasksDeleted: (tasks) => own.tasksDeleted(tasks),
    control: own.control,
    rebuild: async (options) => {
      const { rebuildSessions } = await import('../rebuild/rebuild-sessions.ts');
      return rebuildSessions(
        {
          ...{ tenant: own.tenant, app: own.app, admin: () => shared.store.admin },
          ledgers: () => own.ledgers,
          ledgerPorts: () => own.ledgerPorts(),
          services: shared.ownServices.all,
        },
        options,
      );
    },
  });
}

/** Makes `app.recovery` for the app of a tenant. */
export function recoveryOf({ shared, own }: AppPlace): RuntimeRecovery {
  return {
    get isAutomatic() {
      return shared.recovery.isAutomatic;
    },
    start: (engine) => shared.recoverByItself(engine),
    health: () => shared.recovery.engine.health(),
    resumeStopped: () => shared.recover(own),
  };
}

/** Makes `app.streams`. */
export function streamsOf({
  live,
  options: { pubsub },
  services: { observers },
}: SharedApp): RuntimeStreams {
  return {
    get reach() {
      const isEverywhere = pubsub?.isConnected ?? pubsub !== undefined;
      return isEverywhere ? 'everywhere' : 'process';
    },
    keep: () => live.keep(),
    observe: (around) => {
      const reason = isFunction(around);
      if (around === undefined || reason !== undefined)
        throw new InvalidOptionError({
          function: 'app.streams.observe',
          reason: `it needs a function around the work, as \`around\` of middleware is`,
        });
      // Each observation ends alone, also when the same function observes twice.
      const observer: Around = (operation, work) => around(operation, work);
      observers.add(observer);
      return () => void observers.delete(observer);
    },
  };
}
