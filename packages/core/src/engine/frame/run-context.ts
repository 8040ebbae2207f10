import { AbortReason, CancelScope } from '../../base/cancel-scope.ts';
import { afterThisTurn, type Clock } from '../../base/clock.ts';
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
import type { Runnable } from '../../session/runnable.ts';
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
import type { AnyRunnable, Registry } from './registry.ts';
import type { ResolvedRunLimits } from './run-options.ts';
import type { Surroundings } from './tracing.ts';

/**
 * Called after each round of an agent and each other invocation, with what it added to the ledger.
 */
export type OnStep = (
  events: readonly Event[],
  session: Session,
  runnable: Runnable,
) => void | Promise<void>;

/** How many invocations and effects may end before the event loop turns. */
const turnEvery = 256;

/** A run as those see it who hand on what it streams. */
export interface StreamedRun {
  /** Calls `listener` with each event. Returns a function that ends it. */
  listen(listener: (event: StreamEvent) => void): () => void;
  catch(onRejected: (error: unknown) => void): unknown;
}

/** What a body works with. */
export interface BodyFrame {
  readonly run: RunContext;
  readonly record: InvocationRecord;
  readonly scope: CancelScope;
  readonly activity: Activity;
  /** Whether the body ran before, in this or another process. */
  readonly resumed: boolean;
}

type RunBody = (runnable: AnyRunnable, frame: BodyFrame) => Promise<BodyEnd | undefined>;

/** Why a run has come to rest: what waits, and why nothing more is begun, if that is so. */
export interface Parked {
  readonly leaves: readonly { readonly path: string; readonly reason: WaitReason }[];
  readonly closedFor: string | undefined;
}

/** What an app gives to all of its runs. */
export interface AppServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly registry: Registry;
  readonly prices: Readonly<Record<string, Price>> | undefined;
  /** Tools that every agent of the app has besides its own. */
  readonly tools: Toolset;
  /**
   * Whether a hand-over needs its target to be registered: it does when another process may have to
   * continue.
   */
  readonly strictNames: boolean;
  /**
   * Continues the run of a session that waits and that this process holds for what the run
   * dispatched.
   */
  readonly takeUp: (session: string) => void;
  /** Keeps what a run streams for those who follow its session. Returns a function that ends it. */
  readonly heed: (run: StreamedRun, ledger: Ledger) => () => void;
  /** How many runs of one user may wait for answers at a time. */
  readonly waitingRunsPerUser: number;
  /** What holds for all agents of the app, as far as they do not say otherwise themselves. */
  readonly supervision: SupervisionOptions | false | undefined;
  readonly hooks: readonly Hooks[];
  readonly middleware: readonly Middleware[];
  readonly errorHandlers: readonly ErrorHandler[];
  readonly compaction: CompactionOptions | false | undefined;
  /** What every run of the app may do, of what tools require. */
  readonly permissions: readonly string[];
  /** What happens around each run. */
  readonly lifecycle: Lifecycle | undefined;
  /** Failures of tools, counted over all runs. */
  readonly circuitBreakers: CircuitBreakers | undefined;
  /** What tests put in the place of models and tools. */
  readonly standIns: StandIns | undefined;
}

/** One run while it is under way: what all its invocations share. */
export class RunContext {
  readonly app: AppServices;
  readonly session: Session;
  readonly ledger: Ledger;
  readonly runId: string;
  /** Cancelled with the run. */
  readonly scope: CancelScope;
  /** For dispatched children, which outlive the run's root. */
  readonly detachedScope = new CancelScope();
  /** What is under way below the run's root, and below what nobody in the run waits for. */
  readonly activity: Activity;
  readonly detachedActivity: Activity;
  readonly gate = new Gate();
  /** Cuts off model calls that are under way, so that they are made again with what has come in. */
  readonly interruptions = new Set<() => void>();
  readonly limits: ResolvedRunLimits;
  /** What the run and its agents use and have reserved. */
  readonly budget: RunBudget;
  readonly onStep: OnStep | undefined;
  /**
   * Runs the body of a runnable. Handed in, so that invoking and the bodies, which invoke, do not
   * import each other.
   */
  readonly runBody: RunBody;
  /** What lies around the work; missing where nothing does. */
  readonly surroundings: Surroundings | undefined;
  /** Whether something is left open that another process is to go on with. */
  leavesDetached = false;
  readonly #detached = new Set<Promise<unknown>>();
  readonly #emit: (event: TransientEvent) => void;
  readonly #isHeard: () => boolean;
  /** The last event that was there before this run began. */
  readonly #seqBefore: number;
  /** What was resumed the last time without anything having come of it. */
  readonly #resumedInVain = new Set<string>();
  readonly #onEnd: (() => void)[] = [];
  readonly #grants: Grants;
  #permissions: { readonly of: readonly string[]; readonly all: readonly string[] } | undefined;
  #parked: Parked | undefined;
  /** Invocations and effects that have ended here. */
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

  /** Where transient events go; missing when nobody listens, so that they are not even made. */
  get emit(): ((event: TransientEvent) => void) | undefined {
    return this.#isHeard() ? this.#emit : undefined;
  }

  /**
   * What the run may do, of what tools require: what the app, the session and the run itself were
   * granted.
   */
  get permissions(): readonly string[] {
    const names = this.#grants.after(this.ledger.events);
    if (this.#permissions?.of !== names)
      this.#permissions = { of: names, all: [...new Set([...this.app.permissions, ...names])] };
    return this.#permissions.all;
  }

  /** What the whole run has used. */
  get used(): Consumption {
    return this.budget.run.used;
  }

  /**
   * Milliseconds since somebody last worked on an invocation before this run began. What was only
   * posted to it is no work.
   */
  idleTime(path: string): number {
    const { events } = this.ledger;
    for (let seq = this.#seqBefore; seq > 0; seq--) {
      const event = events[seq - 1] as Event;
      // Whoever only began to continue what is below, such as what was dispatched, has not worked
      // on it.
      const isOthersMark = event.type === 'invocation_resume' && event.invocationId !== path;
      if (belongsTo(event.invocationId, path) && !isPosted(event) && !isOthersMark)
        return Math.max(0, this.app.clock.now() - event.at);
    }
    return 0;
  }

  /**
   * Whether the ledger ends with this invocation being resumed: to say so again, as at each try of
   * what cannot go on, would only make it longer.
   */
  isResumedAlready(path: string): boolean {
    return this.#resumedInVain.has(path);
  }

  /** Whether agents of the run may have to wait for what others have reserved. */
  get hasSharedBudget(): boolean {
    return this.budget.isShared;
  }

  /** Adds what an event of this run used. */
  count(event: Event): void {
    this.budget.count(event);
  }

  /** The agent's own limits at a path, as its definition has them now. */
  #agentLimits(path: string): ConsumptionLimits | undefined {
    const record = this.ledger.invocations.byPath.get(path);
    if (record?.kind !== 'agent' || !this.app.registry.has(record.name)) return undefined;
    const runnable = this.app.registry.get(record.name);
    return runnable.kind === 'agent' ? runnable.limits : undefined;
  }

  /** Lets work go on that nobody in the run waits for. */
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

  /** Resolves when nothing that was dispatched is under way any more. */
  async settled(): Promise<void> {
    while (this.#detached.size > 0) await Promise.all(this.#detached);
  }

  get hasDetached(): boolean {
    return this.#detached.size > 0;
  }

  /**
   * Records what others changed in the shared scopes. A store that fails is no failure of who
   * looks: the run is given back.
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
   * Gives the run back for a failure that says nothing about it, as of a store: the run rejects
   * with it and can be resumed.
   */
  giveUp(error: Error): void {
    this.#givenUpFor ??= { error };
    this.abort(new AbortReason('stopped', error.message));
  }

  get givenUpFor(): { readonly error: Error } | undefined {
    return this.#givenUpFor;
  }

  /** Gives the run back because everything in it waits. */
  park(): void {
    const leaves = [...this.activity.waiting()];
    const isHeld = leaves.some(({ reason }) => reason === 'gate');
    this.#parked = { leaves, closedFor: isHeld ? this.gate.closedFor : undefined };
    this.scope.abort(new AbortReason('waiting', 'The run waits for somebody outside.'));
  }

  get parked(): Parked | undefined {
    return this.#parked;
  }

  /** Gives back what nobody in the run waits for, because everything in that waits. */
  parkDetached(): void {
    this.#detachedRests = true;
    this.detachedScope.abort(new AbortReason('waiting', 'It waits for somebody outside.'));
  }

  /** Whether what nobody in the run waits for was given back because it waits. */
  get detachedRests(): boolean {
    return this.#detachedRests;
  }

  /** Whether there has been something that nobody in the run waits for. */
  get hadDetached(): boolean {
    return this.#hadDetached;
  }

  /**
   * Lets the event loop turn now and then: work that waits for nothing outside would leave timers,
   * cancels, leases and other sessions without their turn. `undefined`: it need not.
   */
  turn(): Promise<void> | undefined {
    this.#ended++;
    return this.#ended % turnEvery === 0
      ? new Promise((resolve) => afterThisTurn(resolve))
      : undefined;
  }

  /** Calls `task` when the run is no longer carried on here. */
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
   * What goes with the end of an invocation: with that of the run that the session wants nothing
   * more, unless it goes on with what nobody waits for.
   */
  endExtras(path: string, end: BodyEnd): BatchExtras | undefined {
    const isOfRoot = isRootOf(path, this.runId);
    if (!isOfRoot || end.next !== undefined) return end.extras;
    // What an earlier run dispatched may still be under way here, too.
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

/** Whether an event came from outside, whoever worked on the session then. */
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
