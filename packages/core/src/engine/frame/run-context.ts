import { AbortReason, CancelScope } from '../../base/cancel-scope.ts';
import type { Clock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { Random } from '../../base/random.ts';
import type { StandIns } from '../../effects/stand-ins.ts';
import type { Event, StreamEvent, TransientEvent } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import { belongsTo, isRootOf } from '../../ledger/path.ts';
import type { Price } from '../../models/model.ts';
import type { CompactionOptions } from '../../runnables/compaction-options.ts';
import type { ErrorHandler, Hooks, Middleware } from '../../runnables/hooks.ts';
import type { Session } from '../../session/session.ts';
import type { CircuitBreakers } from '../../supervision/circuit-breaker.ts';
import type { Consumption, ConsumptionLimits } from '../../supervision/limits.ts';
import type { SupervisionOptions } from '../../supervision/options.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { Activity, type WaitReason } from './activity.ts';
import { RunBudget } from './budget.ts';
import { Gate } from './gate.ts';
import { changesGrants, Grants } from './grants.ts';
import type { BodyEnd } from './invocation.ts';
import type { Lifecycle } from './lifecycle.ts';
import { occupancyOf } from './occupancy.ts';
import type { OnStep } from './on-step.ts';
import type { AnyRunnable, Registry } from './registry.ts';
import type { ResolvedRunLimits } from './run-options.ts';
import type { Surroundings } from './tracing.ts';

/** Number of ended invocations and effects after which the event loop turns. */
const turnEvery = 256;

/** View of a run for code that forwards its stream events. */
export interface StreamedRun {
  /** Calls `listener` with each event. Returns a function that ends it. */
  listen(listener: (event: StreamEvent) => void): () => void;
  catch(onRejected: (error: unknown) => void): unknown;
}

/** Parts that a body works with. */
export interface BodyFrame {
  readonly run: RunContext;
  readonly record: InvocationRecord;
  readonly scope: CancelScope;
  readonly activity: Activity;
  /** True when the body ran before, in this or another process. */
  readonly resumed: boolean;
}

type RunBody = (runnable: AnyRunnable, frame: BodyFrame) => Promise<BodyEnd | undefined>;

/** Reasons why a run has come to rest: the waiting nodes, and the reason of a closed gate. */
export interface Parked {
  readonly leaves: readonly { readonly path: string; readonly reason: WaitReason }[];
  readonly closedFor: string | undefined;
}

/** Services that an app gives to all of its runs. */
export interface AppServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly prices: Readonly<Record<string, Price>> | undefined;
  /** Tools that every agent of the app has besides its own. */
  readonly tools: Toolset;
  /**
   * True when the target of a handoff must be registered. Another process may then have to continue
   * the run.
   */
  readonly strictNames: boolean;
  /**
   * Continues the waiting run of a session that this process still holds. It holds the session for
   * a dispatched child.
   */
  readonly takeUp: (session: string) => void;
  /**
   * Keeps the stream events of a run for the followers of its session. Returns a function that ends
   * it.
   */
  readonly heed: (run: StreamedRun, ledger: Ledger) => () => void;
  /** Number of runs of one user that may wait for answers at a time. */
  readonly waitingRunsPerUser: number;
  /** Supervision options of all agents of the app; the options of an agent itself come first. */
  readonly supervision: SupervisionOptions | false | undefined;
  readonly hooks: readonly Hooks[];
  readonly middleware: readonly Middleware[];
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

/** One run while it is under way: the object that all its invocations share. */
export class RunContext {
  readonly app: AppServices;
  readonly session: Session;
  readonly ledger: Ledger;
  readonly runId: string;
  /** Scope that is cancelled with the run. */
  readonly scope: CancelScope;
  /** Scope of dispatched children, which outlive the run's root. */
  readonly detachedScope = new CancelScope();
  /**
   * Root node of the work below the run's root. `detachedActivity` is that of the detached
   * children.
   */
  readonly activity: Activity;
  readonly detachedActivity: Activity;
  readonly gate = new Gate();
  /**
   * Functions that cut off the model calls under way, which are then made again with the new input.
   */
  readonly interruptions = new Set<() => void>();
  readonly limits: ResolvedRunLimits;
  /** Counter of the use and the reservations of the run and its agents. */
  readonly budget: RunBudget;
  readonly onStep: OnStep | undefined;
  /**
   * Runs the body of a runnable. It is a parameter because invoking and the bodies, which invoke,
   * must not import each other.
   */
  readonly runBody: RunBody;
  /** Middleware around the work of the run; missing when there is none. */
  readonly surroundings: Surroundings | undefined;
  /** True when a dispatched child is left open for another process to continue. */
  leavesDetached = false;
  readonly #detached = new Set<Promise<unknown>>();
  readonly #emit: (event: TransientEvent) => void;
  readonly #isHeard: () => boolean;
  /** `seq` of the last event before this run began. */
  readonly #seqBefore: number;
  /**
   * Paths of the invocations whose resume marks ended the ledger as this run began. Nothing has
   * come of them.
   */
  readonly #resumedInVain = new Set<string>();
  readonly #onEnd: (() => void)[] = [];
  readonly #grants: Grants;
  #permissions: { readonly of: readonly string[]; readonly all: readonly string[] } | undefined;
  #parked: Parked | undefined;
  /** Number of invocations and effects that have ended here. */
  #ended = 0;
  #detachedRests = false;
  #hadDetached = false;
  #givenUpFor: { readonly error: Error } | undefined;

  constructor(parts: {
    app: AppServices;
    session: Session;
    runId: string;
    limits: ResolvedRunLimits;
    onStep: OnStep | undefined;
    runBody: RunBody;
    surroundings: Surroundings | undefined;
    emit: (event: TransientEvent) => void;
    isHeard: () => boolean;
  }) {
    this.app = parts.app;
    this.session = parts.session;
    this.ledger = parts.session.ledger;
    this.runId = parts.runId;
    this.limits = parts.limits;
    this.onStep = parts.onStep;
    this.runBody = parts.runBody;
    this.surroundings = parts.surroundings;
    this.#emit = parts.emit;
    this.#isHeard = parts.isHeard;
    this.scope = new CancelScope();
    this.activity = new Activity(parts.runId);
    this.detachedActivity = new Activity(parts.runId);
    this.activity.judgeBy(() => 'idle');
    this.detachedActivity.judgeBy(() => 'idle');
    this.#grants = new Grants(parts.runId);
    this.#seqBefore = this.ledger.lastSeq;
    for (let seq = this.ledger.lastSeq; seq > 0; seq--) {
      const event = this.ledger.events[seq - 1];
      if (event?.type !== 'invocation_resume') break;
      this.#resumedInVain.add(event.invocationId);
    }
    this.budget = new RunBudget({
      runId: parts.runId,
      limits: parts.limits,
      prices: parts.app.prices,
      events: this.ledger.events,
      limitsOf: (path) => this.#agentLimits(path),
      eventsOf: (path) => this.ledger.invocations.byPath.get(path)?.events ?? [],
    });
  }

  /**
   * Listener for transient events; `undefined` without listeners, so that the events are not even
   * made.
   */
  get emit(): ((event: TransientEvent) => void) | undefined {
    return this.#isHeard() ? this.#emit : undefined;
  }

  /**
   * Permissions of the run, among those that tools require. They are the grants of the app, the
   * session and the run itself.
   */
  get permissions(): readonly string[] {
    const names = this.#grants.after(this.ledger.events);
    if (this.#permissions?.of !== names)
      this.#permissions = { of: names, all: [...new Set([...this.app.permissions, ...names])] };
    return this.#permissions.all;
  }

  /** Consumption of the whole run. */
  get used(): Consumption {
    return this.budget.run.used;
  }

  /**
   * Returns the milliseconds since the last work on an invocation before this run began. A posted
   * event is no work.
   */
  idleTime(path: string): number {
    const { events } = this.ledger;
    for (let seq = this.#seqBefore; seq > 0; seq--) {
      const event = events[seq - 1] as Event;
      // The resume mark of another invocation below, such as a dispatched child, is no work on this
      // one.
      const isOthersMark = event.type === 'invocation_resume' && event.invocationId !== path;
      if (belongsTo(event.invocationId, path) && !isPosted(event) && !isOthersMark)
        return Math.max(0, this.app.clock.now() - event.at);
    }
    return 0;
  }

  /**
   * True when the ledger ended with the resume mark of this invocation as the run began. Another
   * mark at each failed try would only make the ledger longer.
   */
  isResumedAlready(path: string): boolean {
    return this.#resumedInVain.has(path);
  }

  /** True when agents of the run may have to wait for the reservations of others. */
  get hasSharedBudget(): boolean {
    return this.budget.isShared;
  }

  /** Adds the use of an event of this run. */
  count(event: Event): void {
    this.budget.count(event);
  }

  /** Returns the limits of the agent at a path, as its definition has them now. */
  #agentLimits(path: string): ConsumptionLimits | undefined {
    const record = this.ledger.invocations.byPath.get(path);
    if (record?.kind !== 'agent' || !this.app.registry.has(record.name)) return undefined;
    const runnable = this.app.registry.get(record.name);
    return runnable.kind === 'agent' ? runnable.limits : undefined;
  }

  /** Lets `work` go on although nothing in the run waits for it. */
  detach(path: string, work: Promise<unknown>): void {
    const { detached } = occupancyOf(this.ledger);
    detached.add(path);
    this.#hadDetached = true;
    const tracked = work
      .catch((error: unknown) => {
        if (this.ledger.failure === undefined)
          this.scope.abort(new AbortReason('stopped', String(error)));
      })
      .finally(() => {
        detached.delete(path);
        this.#detached.delete(tracked);
      });
    this.#detached.add(tracked);
  }

  /** Resolves when no detached child of this run is under way any more. */
  async settled(): Promise<void> {
    while (this.#detached.size > 0) await Promise.all(this.#detached);
  }

  get hasDetached(): boolean {
    return this.#detached.size > 0;
  }

  /**
   * Records the changes of others in the shared scopes. A failed store is no failure of the
   * invocation that looks: the run is released.
   */
  async observeShared(path: string): Promise<void> {
    try {
      await this.session.observeShared({ path });
    } catch (error) {
      if (!isAdjutantError(error, 'store_unavailable')) throw error;
      this.giveUp(error);
    }
  }

  /**
   * Releases the run for a failure that says nothing about it, such as that of a store. The run
   * rejects with the error and can be resumed.
   */
  giveUp(error: Error): void {
    this.#givenUpFor ??= { error };
    this.abort(new AbortReason('stopped', error.message));
  }

  get givenUpFor(): { readonly error: Error } | undefined {
    return this.#givenUpFor;
  }

  /** Releases the run because everything in it waits. */
  park(): void {
    const leaves = [...this.activity.waiting()];
    const isHeld = leaves.some(({ reason }) => reason === 'gate');
    this.#parked = { leaves, closedFor: isHeld ? this.gate.closedFor : undefined };
    this.scope.abort(new AbortReason('waiting', 'The run waits for somebody outside.'));
  }

  get parked(): Parked | undefined {
    return this.#parked;
  }

  /** Releases the detached children because everything in them waits. */
  parkDetached(): void {
    this.#detachedRests = true;
    this.detachedScope.abort(new AbortReason('waiting', 'It waits for somebody outside.'));
  }

  /** True when the detached children were released because they wait. */
  get detachedRests(): boolean {
    return this.#detachedRests;
  }

  /** True when the run has had a detached child. */
  get hadDetached(): boolean {
    return this.#hadDetached;
  }

  /**
   * Lets the event loop turn after every 256 ended invocations and effects. Work that waits for
   * nothing outside would keep timers, cancels, leases and other sessions from their turn. Returns
   * `undefined` when no turn is due.
   */
  turn(): Promise<void> | undefined {
    this.#ended++;
    return this.#ended % turnEvery === 0
      ? new Promise((resolve) => this.ledger.ports.host.afterTurn(resolve))
      : undefined;
  }

  /** Calls `task` when this process no longer carries on the run. */
  onEnd(task: () => void): void {
    this.#onEnd.push(task);
  }

  close(): void {
    for (const task of this.#onEnd.splice(0)) task();
  }

  /** Cuts off the model calls that are under way. */
  interrupt(): void {
    for (const cut of [...this.interruptions]) cut();
  }

  /**
   * Returns the extras that land with the end of an invocation. With the end of the run the wake
   * time of the session is cleared, unless detached children go on.
   */
  endExtras(path: string, end: BodyEnd): BatchExtras | undefined {
    const isOfRoot = isRootOf(path, this.runId);
    if (!isOfRoot || end.next !== undefined) return end.extras;
    // A child that an earlier run dispatched may still be under way here, too.
    if (
      this.#detached.size > 0 ||
      this.leavesDetached ||
      occupancyOf(this.ledger).detached.size > 0
    )
      return end.extras;
    return { wakeAt: null, ...end.extras };
  }

  /**
   * Stops everything. `stopped` and `fenced` leave the ledger as it is; `cancelled` is recorded.
   */
  abort(reason: AbortReason): void {
    this.scope.abort(reason);
    this.detachedScope.abort(reason);
  }
}

/** True when an event came from outside, independent of the process that worked on the session. */
function isPosted(event: Event): boolean {
  switch (event.type) {
    case 'user':
    case 'tool_input':
    case 'cancel':
      return true;
    case 'decision':
      return (
        event.component === 'inbox' ||
        event.component === 'request' ||
        event.component === 'run' ||
        changesGrants(event)
      );
    case 'tool_result':
      return event.late === true;
    default:
      return false;
  }
}
