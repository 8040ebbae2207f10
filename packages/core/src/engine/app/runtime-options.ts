import { type Clock, systemClock } from '../../base/clock.ts';
import type { IdSource } from '../../base/id.ts';
import {
  findInvalidOption,
  isCount,
  isFlag,
  isFunction,
  isGroup,
  isList,
  isNonEmptyText,
  isObject,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import type { Random } from '../../base/random.ts';
import { isStandIns, type StandIns } from '../../effects/stand-ins.ts';
import type { Store } from '../../ledger/port.ts';
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
import { InvalidRuntimeError } from '../frame/errors.ts';
import type { ResolveRunnable } from '../frame/registry.ts';
import { type RuntimeLimits, runtimeLimitChecks } from '../frame/run-options.ts';
import type { PubSub } from '../live/pub-sub.ts';
import { type ApprovalKey, isApprovals } from '../requests/approval-token.ts';
import { type LifecycleOptions, lifecycleChecks } from '../run/lifecycle.ts';

export const defaultLeaseMs = 30_000;
/** Below this, appends and renewals of a busy process would come too late. */
const leastLeaseMs = 100;

/** As `recover: 'auto'`, with these settings. */
export interface RecoverOptions {
  /**
   * Sessions that this process continues by itself at the same time, each until it ends or waits.
   * More of them are left to other processes, or wait for one of these: of each tenant one in turn,
   * the longest overdue first. What is answered, sent or cancelled through this process does not
   * wait.
   * @default 100
   */
  readonly atOnce?: number;
}

export interface RuntimeOptions<Schema extends StateSchema = StateSchema> {
  /** Name of the app: the name space of its sessions. */
  readonly app: string;
  /** @default a store in memory */
  readonly store?: Store;
  /** Sessions of one tenant are out of reach of the others. @default 'default' */
  readonly tenant?: string;
  /**
   * What runs may be started with and handed over to. A process that continues a run must have them
   * under the same names.
   */
  readonly runnables?: readonly Runnable[];
  /** Finds runnables that are made up at run time, by name. */
  readonly resolve?: ResolveRunnable;
  /**
   * Tools that every agent has besides its own. More can be added while it runs:
   * `app.tools.add(…)`.
   */
  readonly tools?: readonly Tool[];
  readonly limits?: RuntimeLimits;
  /**
   * What watches over the agents, as far as they do not say otherwise themselves. `false` turns all
   * of it off.
   */
  readonly supervision?: SupervisionOptions | false;
  /** Called before those of the agents. */
  readonly hooks?: Hooks<Schema> | readonly Hooks<Schema>[];
  /** Outside that of the agents. */
  readonly middleware?: readonly Middleware<Schema>[];
  /** Asked before those of the agents. */
  readonly errorHandlers?: readonly ErrorHandler<Schema>[];
  /** How prompts are kept within the models' windows, as far as agents do not say otherwise. */
  readonly compaction?: CompactionOptions | false;
  /**
   * What every run of the app may do, of what tools require: `fs:write`, or `fs:*` for all that
   * begins so. @default nothing
   */
  readonly permissions?: readonly string[];
  /**
   * What happens before and after each run: load what it needs, let it in or refuse it, and keep
   * what it gave.
   */
  readonly lifecycle?: LifecycleOptions<Schema>;
  /**
   * Whether runs that stopped without an end, and runs whose answers have come, are continued by
   * themselves: at the start and from then on.
   * @default 'auto' with a `store`, otherwise there is nothing to find
   */
  readonly recover?: 'auto' | 'manual' | RecoverOptions;
  /**
   * Whether it looks after the sessions of all tenants of the app, and not of its own only: what
   * they have open is continued in the runtimes that `app.tenants.get` gives. It does so from the
   * first call of that on.
   * @default false
   */
  readonly tenants?: boolean;
  /**
   * How long this process may be silent while it works on a session: after `ttl` milliseconds
   * without an append or a renewal, of which there are three in that time, another process may take
   * the session over. A process of the same machine that is gone is not waited for.
   * @default { ttl: 30_000 }
   */
  readonly lease?: { readonly ttl?: number };
  /**
   * Keys of the tokens by which approvals can be given: the first one signs, all of them are known.
   * @default none: there are no tokens
   */
  readonly approvals?: { readonly keys: readonly ApprovalKey[] };
  /**
   * Carries what is streamed and not stored (parts of answers, progress of tools) to the other
   * processes of the app, such as `redis()` of `adjutant/redis`. What is stored reaches them in any
   * case. It also tells them of runs that this process gives back, so that they look at once.
   * @default none: only this process has it
   */
  readonly pubsub?: PubSub;
  /** Prices by model name that win over the built-in table. */
  readonly prices?: Readonly<Record<string, Price>>;
  /** Types and checks the state of all sessions. */
  readonly stateSchema?: Schema;
  /**
   * For tests: where time, ids and randomness come from, and what stands in for models and tools.
   */
  readonly ports?: {
    readonly clock?: Clock;
    readonly ids?: IdSource;
    readonly random?: Random;
    readonly standIns?: StandIns;
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

const isRecoverOptions = isGroup<RecoverOptions>({ atOnce: isCount });

/** What the options of a runtime must be. */
const runtimeChecks: OptionChecks<RuntimeOptions> = {
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
  recover: (value) =>
    value === 'auto' || value === 'manual' || isRecoverOptions(value) === undefined
      ? undefined
      : "'auto', 'manual' or { atOnce }",
  tenants: isFlag,
  lease: isGroup({ ttl: isLease }),
  approvals: isApprovals,
  pubsub: isPubSub,
  prices: isObject,
  stateSchema: isObject,
  supervision: isSupervision,
  hooks: isHooks,
  middleware: isListOfMiddleware,
  errorHandlers: isListOfErrorHandlers,
  compaction: isCompaction,
  permissions: isListOfGrants,
  lifecycle: isGroup(lifecycleChecks),
  ports: isGroup({ clock: isObject, ids: isObject, random: isObject, standIns: isStandIns }),
};

/**
 * Whether a runtime may look for what it can continue. The command line loads apps to look at them,
 * and must not begin to work on all their sessions.
 */
export function mayRecoverByItself({ recover }: RuntimeOptions): boolean {
  return recover !== 'manual' && process.env['ADJUTANT_RECOVER'] !== 'manual';
}

/** @throws InvalidRuntimeError */
export function checkedOptions(options: RuntimeOptions): RuntimeOptions {
  const invalid = findInvalidOption(options, runtimeChecks);
  if (invalid !== undefined) throw new InvalidRuntimeError({ reason: invalid.reason });
  if (options.app === undefined)
    throw new InvalidRuntimeError({ reason: '`app` must be the name of the app' });
  return options;
}

/**
 * The clock of an app. One that is given is everybody's; a store that the app makes for itself has
 * the one of the process.
 */
export function clockOf({ store, ports }: RuntimeOptions): Clock {
  return ports?.clock ?? (store === undefined ? systemClock : new StoreClock(systemClock));
}
