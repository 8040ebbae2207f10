import type { Clock } from '../../base/clock.ts';
import { type Host, systemHost } from '../../base/host.ts';
import type { IdSource } from '../../base/id.ts';
import {
  findInvalidOption,
  isAmount,
  isCount,
  isFlag,
  isFunction,
  isGroup,
  isList,
  isNonEmptyText,
  isObject,
  isOneOf,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import type { Random } from '../../base/random.ts';
import { isDefaults, type RuntimeDefaults } from '../../effects/runtime-defaults.ts';
import { isStandIns, type StandIns } from '../../effects/stand-ins.ts';
import type { SessionSearch } from '../../ledger/port/session-search.ts';
import type { ShareWeights, Store } from '../../ledger/port.ts';
import { StoreClock } from '../../ledger/store-clock.ts';
import type { Price } from '../../models/model.ts';
import { type CompactionOptions, isCompaction } from '../../runnables/compaction-options.ts';
import {
  type ErrorHandler,
  type Hooks,
  isHooks,
  isListOfErrorHandlers,
  isListOfMiddleware,
  type Middleware,
} from '../../runnables/hooks.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { StateSchema } from '../../session/state-types.ts';
import { isSupervision, type SupervisionOptions } from '../../supervision/options.ts';
import { isListOfGrants } from '../../supervision/permission.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Engine } from '../drive/engine.ts';
import { isEngine } from '../drive/is-engine.ts';
import { InvalidRuntimeError } from '../frame/errors.ts';
import type { ResolveRunnable } from '../frame/registry.ts';
import { type RuntimeLimits, runtimeLimitChecks } from '../frame/run-options.ts';
import type { PubSub } from '../live/pub-sub.ts';
import { type ApprovalTokenOptions, isApprovals } from '../requests/approval-token.ts';
import type { OnRequest } from '../requests/telling.ts';
import { type LifecycleOptions, lifecycleChecks } from '../run/lifecycle.ts';
import { type LiveBus, partChecks } from '../services/part-options.ts';
import type { ServicePart } from '../services/service.ts';
import { isDeadline } from '../tasks/deadline.ts';
import type { AdmissionOptions, DeadlineTable } from '../tasks/profile.ts';

export const defaultLeaseMs = 30_000;
/**
 * Minimum lease in milliseconds: below it, appends and renewals of a busy process would come too
 * late.
 */
const leastLeaseMs = 100;

/** Settings of recovery, which then behaves as with `recover: 'auto'`. */
export interface RecoverOptions {
  /**
   * Maximum number of sessions that this process continues by itself at the same time. A session
   * counts until its run ends or waits. Further sessions are left to other processes, or wait for a
   * free place. Each tenant gets one place in turn, the longest overdue session first. Sessions
   * answered, messaged or cancelled through this process do not wait.
   * @default 100
   */
  readonly atOnce?: number;
}

/** Work that this process takes from the queue. */
export interface WorkOptions {
  /**
   * Maximum number of sessions that this process works on by itself at the same time. Runs that
   * callers start do not count.
   * @default 100
   */
  readonly slots?: number;
  /** Queues that it serves. @default ['default'] */
  readonly queues?: readonly string[];
  /** Places kept for tasks of the priority `realtime`, besides `slots`. @default { realtime: 1 } */
  readonly reserve?: { readonly realtime?: number };
  /**
   * Maximum number of tasks of a queue that all processes work on at the same time. @default none
   */
  readonly queueLimits?: Readonly<Record<string, number>>;
  /** Weights of tenants and of requesters: weight 2 gets twice the share. @default 1 each */
  readonly weights?: ShareWeights;
  /**
   * True while somebody speaks with the user, and nothing else is to begin: it is asked before each
   * look at the queue and before each round. One that fails counts as `false`.
   * @default never
   */
  readonly isRealtimeActive?: () => boolean | Promise<boolean>;
  /** Numbers of tasks that may wait; one more is refused with `queue_full`. @default none */
  readonly admission?: AdmissionOptions;
  /** Deadlines of tasks that have none of their own, by their priority. @default none */
  readonly deadlines?: DeadlineTable;
  /**
   * `assistant`: the settings of a personal assistant, where no other setting says so: at most 3
   * tasks of high, 5 of normal, 3 of low, 5 of background and 1 of realtime priority wait, 16 in
   * all; deadlines by priority; 5 rounds; one slot.
   * @default none
   */
  readonly profile?: 'assistant';
}

export interface RuntimeOptions<Schema extends StateSchema = StateSchema> {
  /** Name of the app: the name space of its sessions. */
  readonly app: string;
  /** Store of the app. @default a store in memory */
  readonly store?: Store;
  /**
   * Tenant of the sessions; those of one tenant are out of reach of the others. @default 'default'
   */
  readonly tenant?: string;
  /**
   * Runnables that runs may be started with and handed over to. A process that continues a run must
   * have them under the same names.
   */
  readonly runnables?: readonly Runnable[];
  /** Finds runnables that are created at run time, by name. */
  readonly resolve?: ResolveRunnable;
  /**
   * Tools that every agent has besides its own. More can be added while the app runs:
   * `app.tools.add(…)`.
   */
  readonly tools?: readonly Tool[];
  readonly limits?: RuntimeLimits;
  /** Settings of agents, tools and models that say nothing of their own about them. */
  readonly defaults?: RuntimeDefaults;
  /** Supervision of the agents, unless an agent sets its own. `false` turns all of it off. */
  readonly supervision?: SupervisionOptions | false;
  /** Hooks that are called before those of the agents. */
  readonly hooks?: Hooks<Schema> | readonly Hooks<Schema>[];
  /** Middleware that wraps that of the agents. */
  readonly middleware?: readonly Middleware<Schema>[];
  /** Error handlers that are called before those of the agents. */
  readonly errorHandlers?: readonly ErrorHandler<Schema>[];
  /**
   * Compaction that keeps prompts within the windows of the models, unless an agent sets its own.
   */
  readonly compaction?: CompactionOptions | false;
  /**
   * Permissions of every run of the app, as tools require them. `fs:write` is one permission,
   * `fs:*` all permissions that begin so. @default no permissions
   */
  readonly permissions?: readonly string[];
  /**
   * Steps before and after each run: they load its data, admit or refuse it, and store its output.
   */
  readonly lifecycle?: LifecycleOptions<Schema>;
  /**
   * Continuation of runs that stopped without an end, and of runs whose answers have come. With
   * `'auto'` they are continued by themselves, at the start and from then on.
   * @default 'auto' with a `store`; without one no stored run can exist
   */
  readonly recover?: 'auto' | 'manual' | RecoverOptions;
  /**
   * Engine that keeps runs moving, such as `temporalEngine` of `@adjutant/temporal`. One engine
   * belongs to one app. @default the embedded one
   */
  readonly engine?: Engine;
  /** Work that this process takes from the queue: places, queues, shares and limits. */
  readonly work?: WorkOptions;
  /**
   * True when the runtime continues the sessions of all tenants of the app, not only of its own.
   * Their open runs continue in the runtimes that `app.tenants.get` returns. The first call of
   * `app.tenants.get` for another tenant turns this on as well.
   * @default false
   */
  readonly tenants?: boolean;
  /**
   * Lease of this process on a session that it works on. After `ttlMs` milliseconds without an
   * append or a renewal, another process may claim the session. Three renewals fall into that time.
   * A process of the same machine that is gone is not waited for.
   * @default { ttlMs: 30_000 }
   */
  readonly lease?: { readonly ttlMs?: number };
  /**
   * Keys of the tokens by which approvals can be given, and the address of the page that opens
   * them.
   * @default none: there are no tokens
   */
  readonly approvals?: ApprovalTokenOptions;
  /**
   * Called for everything that waits for a person, at least once, so that somebody can be sent a
   * link. The ledger notes that it was called; when a process dies before that, another one calls
   * it. A call that fails is tried again after ever longer pauses (10 seconds to 10 minutes). The
   * run never waits for it.
   * @default nobody is told
   */
  readonly onRequest?: OnRequest;
  /**
   * Channel for streamed data that is not stored (parts of answers, progress of tools). It reaches
   * the other processes of the app, such as `redis()` of `adjutant/redis`. Stored data reaches them
   * in any case. The channel also announces runs that this process releases, so that others look at
   * once.
   * @default none: only this process has the streamed data
   */
  readonly pubsub?: PubSub;
  /**
   * Search of sessions by their text, of an engine of your own.
   * @default one in memory, which refuses encrypted stores
   */
  readonly search?: SessionSearch;
  /**
   * Triggers of the app, made by `triggers` of `adjutant/triggers`: they start tasks by a schedule,
   * an event, a condition or a webhook.
   * @default none
   */
  readonly triggers?: ServicePart;
  /**
   * Notices to people, made by `notifications` of `adjutant/notifications`.
   * @default none
   */
  readonly notifications?: ServicePart;
  /**
   * Bus for those who only listen to published events, such as `redisBus` of `adjutant/bus`.
   * Triggers get every event without it.
   * @default none
   */
  readonly bus?: LiveBus;
  /** Prices by model name that override the built-in table. */
  readonly prices?: Readonly<Record<string, Price>>;
  /** Schema that types and checks the state of all sessions. */
  readonly stateSchema?: Schema;
  /** Sources of time, ids and randomness, and stand-ins for models and tools, for tests. */
  readonly ports?: {
    readonly clock?: Clock;
    readonly ids?: IdSource;
    readonly random?: Random;
    readonly standIns?: StandIns;
    /**
     * Machine of this process: its clock, timers, ids and randomness, where no other port says so.
     * @default the machine on which it runs
     */
    readonly host?: Host;
  };
}

const isLease: OptionCheck = (value) =>
  Number.isFinite(value) && (value as number) >= leastLeaseMs
    ? undefined
    : `a number of milliseconds from ${leastLeaseMs}`;

const isPubSub: OptionCheck = (value) => {
  const { publish, subscribe, close } = (value ?? {}) as Partial<PubSub>;
  return [publish, subscribe, close].every((method) => typeof method === 'function')
    ? undefined
    : "a pub/sub such as redis('redis://…')";
};

const isSearch: OptionCheck = (value) =>
  typeof (value as Partial<SessionSearch> | null)?.find === 'function'
    ? undefined
    : 'an object with the method `find`';

const isWeight: OptionCheck = (value) =>
  Number.isFinite(value) && (value as number) > 0 ? undefined : 'a number above 0';
const isMapOf =
  (check: OptionCheck): OptionCheck =>
  (value) => {
    const wrong = isObject(value);
    if (wrong !== undefined) return wrong;
    for (const [name, one] of Object.entries(value as object)) {
      const reason = check(one);
      if (reason !== undefined) return `an object whose member "${name}" is ${reason}`;
    }
    return undefined;
  };
const isListOfNames: OptionCheck = (value) =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((one) => isNonEmptyText(one) === undefined)
    ? undefined
    : 'a list of names';

/** Check of the option `work`. */
export const workCheck = isGroup<WorkOptions>({
  slots: isCount,
  queues: isListOfNames,
  reserve: isGroup<{ realtime?: number }>({ realtime: isAmount }),
  queueLimits: isMapOf(isCount),
  weights: isGroup<ShareWeights>({ tenants: isMapOf(isWeight), requesters: isMapOf(isWeight) }),
  isRealtimeActive: isFunction,
  admission: isGroup<AdmissionOptions>({
    priorities: isGroup<NonNullable<AdmissionOptions['priorities']>>({
      realtime: isAmount,
      high: isAmount,
      normal: isAmount,
      low: isAmount,
      background: isAmount,
    }),
    total: isAmount,
    tenant: isAmount,
    requester: isAmount,
  }),
  deadlines: isGroup<DeadlineTable>({
    realtime: isDeadline,
    high: isDeadline,
    normal: isDeadline,
    low: isDeadline,
    background: isDeadline,
  }),
  profile: isOneOf('assistant'),
});

const isRecoverOptions = isGroup<RecoverOptions>({ atOnce: isCount });

/** Checks of the options of a runtime. */
export const runtimeChecks: OptionChecks<RuntimeOptions> = {
  app: isNonEmptyText,
  store: (value) =>
    typeof (value as Partial<Store> | null)?.for === 'function'
      ? undefined
      : "a store such as sqlite('file.db')",
  tenant: isNonEmptyText,
  runnables: isList,
  resolve: isFunction,
  tools: isList,
  limits: isGroup(runtimeLimitChecks),
  defaults: isDefaults,
  recover: (value) =>
    value === 'auto' || value === 'manual' || isRecoverOptions(value) === undefined
      ? undefined
      : "'auto', 'manual' or { atOnce }",
  engine: isEngine,
  work: workCheck,
  tenants: isFlag,
  lease: isGroup({ ttlMs: isLease }),
  approvals: isApprovals,
  onRequest: isFunction,
  pubsub: isPubSub,
  search: isSearch,
  ...partChecks,
  prices: isObject,
  stateSchema: isObject,
  supervision: isSupervision,
  hooks: isHooks,
  middleware: isListOfMiddleware,
  errorHandlers: isListOfErrorHandlers,
  compaction: isCompaction,
  permissions: isListOfGrants,
  lifecycle: isGroup(lifecycleChecks),
  ports: isGroup({
    clock: isObject,
    ids: isObject,
    random: isObject,
    standIns: isStandIns,
    host: isObject,
  }),
};

/**
 * Returns the options with the slots and the queues that the environment names, which go before
 * those of `work`: the command line makes workers of apps that others have written.
 * @throws InvalidRuntimeError
 */
export function withEnvironment(options: RuntimeOptions): RuntimeOptions {
  const { ADJUTANT_QUEUES: queues, ADJUTANT_SLOTS: slots } = process.env;
  if (!queues && !slots) return options;
  const work = {
    ...options.work,
    ...(slots ? { slots: Number(slots) } : {}),
    ...(queues ? { queues: queues.split(',').map((name) => name.trim()) } : {}),
  };
  const reason = workCheck(work);
  if (reason !== undefined)
    throw new InvalidRuntimeError({
      reason: `ADJUTANT_SLOTS and ADJUTANT_QUEUES must give \`work\` that is ${reason}`,
    });
  return { ...options, work };
}

/**
 * Returns the options after checking them.
 * @throws InvalidRuntimeError
 */
export function checkedOptions(options: RuntimeOptions): RuntimeOptions {
  const invalid = findInvalidOption(options, runtimeChecks);
  if (invalid !== undefined) throw new InvalidRuntimeError({ reason: invalid.reason });
  if (options.app === undefined)
    throw new InvalidRuntimeError({ reason: '`app` must be the name of the app' });
  return options;
}

/**
 * Returns the clock of an app: the one of `ports`, if it is given. Otherwise the receipts of a
 * given store set the clock. A store that the app makes for itself has the clock of the machine.
 */
export function clockOf({ store, ports }: RuntimeOptions): Clock {
  const { clock } = ports?.host ?? systemHost;
  return ports?.clock ?? (store === undefined ? clock : new StoreClock(clock));
}
