import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { ResolvedDefaults } from '../../effects/runtime-defaults.ts';
import type { StandIns } from '../../effects/stand-ins.ts';
import type { TransientEvent } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Price } from '../../models/model.ts';
import type { CompactionOptions } from '../../runnables/compaction-options.ts';
import type { ErrorHandler, Hooks, Middleware } from '../../runnables/hooks.ts';
import type { Around } from '../../runnables/operation.ts';
import type { CircuitBreakers } from '../../supervision/circuit-breaker.ts';
import type { SupervisionOptions } from '../../supervision/options.ts';
import type { Toolset } from '../../tools/toolset.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Registry } from './registry.ts';
import type { TellsRequests } from './tells-requests.ts';

/** View of a run for code that forwards its stream events. */
export interface StreamedRun {
  /** Calls `listener` with each transient event when it is made. Returns a function to end it. */
  listenToParts(listener: (event: TransientEvent) => void): () => void;
  catch(onRejected: (error: unknown) => void): unknown;
}

/** Services that an app gives to all of its runs. */
export interface AppServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly prices: Readonly<Record<string, Price>> | undefined;
  /** Settings that hold where agents, tools and models have none of their own. */
  readonly defaults: ResolvedDefaults;
  /** Tools that every agent of the app has besides its own. */
  readonly tools: Toolset;
  /**
   * True when the target of a handoff must be registered. Another process may then have to continue
   * the run.
   */
  readonly strictNames: boolean;
  /**
   * Continues, or begins, the run of a lane of a session that this process still holds: for a
   * dispatched child, or for the run of another lane.
   */
  readonly resumeRun: (session: string, lane: string) => void;
  /**
   * Keeps the stream events of a run for the followers of its session. Returns a function that ends
   * it.
   */
  readonly publishStream: (run: StreamedRun, ledger: Ledger) => () => void;
  /** Tells the app of the requests of its runs; `undefined` when it does not want to know. */
  readonly telling: TellsRequests | undefined;
  /** Number of runs of one user that may wait at a time. */
  readonly waitingRunsPerUser: number;
  /** The same for all sessions without a user. `undefined`: no limit. */
  readonly waitingRunsWithoutUser: number | undefined;
  /** Supervision options of all agents of the app; the options of an agent itself come first. */
  readonly supervision: SupervisionOptions | false | undefined;
  readonly hooks: readonly Hooks[];
  readonly middleware: readonly Middleware[];
  /** Code that observes the work of all runs, around all middleware. */
  readonly observers: Set<Around>;
  readonly errorHandlers: readonly ErrorHandler[];
  readonly compaction: CompactionOptions | false | undefined;
  /** Permissions, among those that tools require, of every run of the app. */
  readonly permissions: readonly string[];
  /** Steps that happen around each run. */
  readonly lifecycle: Lifecycle | undefined;
  /** Circuit breakers: they count the failures of tools over all runs. */
  readonly circuitBreakers: CircuitBreakers | undefined;
  /** Replacements that tests use for models and tools. */
  readonly standIns: StandIns | undefined;
}
