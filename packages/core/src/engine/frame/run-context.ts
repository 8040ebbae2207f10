import { type AbortReason, CancelScope } from '../../base/cancel-scope.ts';
import { defined } from '../../base/defined.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { EventDraft, SubtaskBudget, TransientEvent } from '../../ledger/event.ts';
import { hasOutcome, type InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { laneAt } from '../../ledger/folds/lanes.ts';
import { subtaskBudget } from '../../ledger/folds/subtask-budget.ts';
import {
  endedStatus,
  endingAction,
  endSends,
  executionsOf,
  type NextExecution,
  nextExecution,
  resultAtDeadline,
  retryDraft,
  type TaskData,
  taskOfRun,
  taskRow,
  withJoined,
} from '../../ledger/folds/task.ts';
import { nextRetry } from '../../ledger/folds/waiting-tasks.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { BatchExtras } from '../../ledger/ledger-writer.ts';
import { belongsTo, isRootOf } from '../../ledger/path.ts';
import type { TurnPatch } from '../../ledger/port.ts';
import type { Session } from '../../session/session.ts';
import type { ConsumptionLimits } from '../../supervision/limits.ts';
import { Activity } from './activity.ts';
import type { AppServices } from './app-services.ts';
import { RunBudget } from './budget/budget.ts';
import { DetachedWork } from './detached-work.ts';
import { Gate } from './gate.ts';
import { RunPermissions } from './grants.ts';
import type { BodyEnd, Wait } from './invocation.ts';
import { openDetached } from './open-detached.ts';
import type { AnyRunnable } from './registry.ts';
import { Resumption } from './resumption.ts';
import type { OnStep, ResolvedRunLimits } from './run-options.ts';
import { RunRelease } from './run-release.ts';
import type { AgentMiddleware } from './tracing/agent-middleware.ts';
import type { RunTracing } from './tracing/run-tracing.ts';

/** Number of ended invocations and effects after which the event loop turns. */
const turnEvery = 256;

/** Parts that a body works with. */
export interface BodyFrame {
  readonly run: RunContext;
  readonly record: InvocationRecord;
  readonly scope: CancelScope;
  readonly activity: Activity;
  /** True when the body ran before, in this or another process. */
  readonly resumed: boolean;
}

/** Function that runs the body of an invocation; `undefined` when the run was released. */
export type RunBody = (
  runnable: AnyRunnable | Wait,
  frame: BodyFrame,
) => Promise<BodyEnd | undefined>;

/** The turn in which a worker carries out a run, as the run sees it. */
export interface TurnOfRun {
  /**
   * Called before the run goes on. It may close the gate, so that nothing new begins, and stop the
   * run.
   * @param task the task that the run is about to begin
   */
  begin(run: RunContext, task: TaskData | undefined): void;
  /**
   * Called before each model call of the run. It may close the gate, because a task of a higher
   * priority has come, or because nothing is to begin while somebody speaks.
   */
  beforeRound(run: RunContext): Promise<void>;
}

/** Parts that a run is made of. */
interface RunParts {
  readonly app: AppServices;
  readonly session: Session;
  readonly runId: string;
  readonly lane: string;
  readonly limits: ResolvedRunLimits;
  readonly onStep: OnStep | undefined;
  readonly runBody: RunBody;
  readonly agents: AgentMiddleware;
  readonly tracing: RunTracing | undefined;
  readonly emit: (event: TransientEvent) => void;
  readonly isHeard: () => boolean;
  /** Turn of a worker; missing when a caller runs it. */
  readonly turn: TurnOfRun | undefined;
}

/** One run while it is under way: the object that all its invocations share. */
export class RunContext {
  readonly app: AppServices;
  readonly session: Session;
  readonly ledger: Ledger;
  readonly runId: string;
  /** Lane of the run in its session. */
  readonly lane: string;
  readonly limits: ResolvedRunLimits;
  readonly onStep: OnStep | undefined;
  /**
   * Runs the body of a runnable. It is a parameter because invoking and the bodies, which invoke,
   * must not import each other.
   */
  readonly runBody: RunBody;
  /** Middleware of the agents of the run that hears or wraps their work. */
  readonly agents: AgentMiddleware;
  /** Middleware around the work of the run; missing in a replay. */
  readonly tracing: RunTracing | undefined;
  /** Scope that is cancelled with the run. */
  readonly scope = new CancelScope();
  /** Root node of the work below the run's root. */
  readonly activity: Activity;
  readonly detached: DetachedWork;
  readonly gate = new Gate();
  readonly release: RunRelease;
  readonly resumption: Resumption;
  /** Counter of the use and the reservations of the run and its agents. */
  readonly budget: RunBudget;
  readonly permissions: RunPermissions;
  /** Functions that cut off the model calls under way, and the waits before them. */
  readonly interruptions = new Set<() => void>();
  #wasInterrupted = false;
  /** Turn of a worker in which it is carried out. */
  readonly turnOfWorker: TurnOfRun | undefined;
  readonly #emit: (event: TransientEvent) => void;
  readonly #isHeard: () => boolean;
  readonly #onEnd: (() => void)[] = [];
  /** Number of invocations and effects that have ended here. */
  #ended = 0;

  constructor(parts: RunParts) {
    const { app, session, runId, limits } = parts;
    const { ledger } = session;
    this.app = app;
    this.session = session;
    this.ledger = ledger;
    this.runId = runId;
    this.lane = parts.lane;
    this.limits = limits;
    this.onStep = parts.onStep;
    this.runBody = parts.runBody;
    this.agents = parts.agents;
    this.tracing = parts.tracing;
    this.turnOfWorker = parts.turn;
    this.#emit = parts.emit;
    this.#isHeard = parts.isHeard;
    this.activity = new Activity(runId);
    this.activity.judgeBy(() => 'idle');
    this.detached = new DetachedWork(ledger, runId, (error) =>
      this.release.becauseOf(error instanceof Error ? error : new Error(String(error))),
    );
    this.release = new RunRelease({
      activity: this.activity,
      gate: this.gate,
      abortRoot: (reason) => this.scope.abort(reason),
      abort: (reason) => this.abort(reason),
    });
    this.resumption = new Resumption(ledger, app.clock);
    this.permissions = new RunPermissions(ledger, runId, app.permissions);
    this.budget = new RunBudget({
      runId,
      limits,
      prices: app.prices,
      events: ledger.events,
      limitsOf: (path) => agentLimits(app, ledger, path),
      eventsOf: (path) => ledger.invocations.byPath.get(path)?.events ?? [],
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
   * Records the changes of others in the shared scopes. A failed store is no failure of the
   * invocation that looks: the run is released.
   */
  async observeShared(path: string): Promise<void> {
    try {
      await this.session.observeShared({ path });
    } catch (error) {
      if (!isAdjutantError(error, 'store_unavailable')) throw error;
      this.release.becauseOf(error);
    }
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

  /** True when no model call may begin, not even one whose prompt is being made: it was paused. */
  get isCutShort(): boolean {
    return this.#wasInterrupted && this.gate.isClosed;
  }

  /** Cuts off the model calls that are under way. */
  interrupt(): void {
    this.#wasInterrupted = true;
    for (const cut of [...this.interruptions]) cut();
  }

  /**
   * Returns the extras that land with the end of an invocation. With the end of the run the wake
   * time of the session is cleared, unless detached work goes on.
   */
  endExtras(path: string, end: BodyEnd): BatchExtras | undefined {
    const { followUp } = end;
    const extras = followUp ? { ...end.extras, wakeAt: followUp.wakeAt } : end.extras;
    const endsRun = isRootOf(path, this.runId) && end.next === undefined;
    const task = endsRun ? this.#taskExtras(end) : undefined;
    return task === undefined
      ? this.#wakeExtras(path, endsRun, extras)
      : { ...this.#wakeExtras(path, endsRun, extras), ...task };
  }

  /**
   * The end of a submitted run ends its turn and its place in the list of tasks, unless the task is
   * to be executed again.
   */
  #taskExtras({ error, output, status }: BodyEnd): BatchExtras | undefined {
    const task = taskOfRun(this.ledger.events, this.runId);
    if (task === undefined) return undefined;
    const record = this.ledger.invocations.byPath.get(this.runId);
    const facts = {
      task,
      runnable: record?.name ?? '',
      startedAt: record?.start.at,
      rounds: this.roundsCompleted,
      attempts: executionsOf(this.ledger.events, this.runId),
      error,
    };
    const next = this.#nextExecution(status);
    if (next !== undefined) {
      const { attempt: attempts, level, notBefore: at } = next;
      const turn: TurnPatch = { to: 'ready', at, attempts, ...defined({ level }) };
      return { rows: [taskRow('open', { ...facts, attempts })], turn, wakeAt: at };
    }
    const result = output ?? resultAtDeadline(this.ledger.events, task);
    const ended = { ...facts, completedAt: this.app.clock.now(), result };
    const state = endedStatus(status, this.#hasPassedDeadline);
    const { session } = this.ledger;
    const sends = endSends(withJoined(task, this.ledger.events), {
      session,
      status: state,
      attempts: facts.attempts,
      error,
      at: ended.completedAt,
    });
    return {
      rows: [taskRow(state, ended)],
      ...this.#afterTask(),
      ...(sends.length === 0 ? {} : { sends }),
    };
  }

  /** The turn ends with its task, unless an earlier task of the session is executed again. */
  #afterTask(): BatchExtras {
    const next = nextRetry(this.ledger.events);
    if (next === undefined) return { turn: { to: 'none' } };
    const { notBefore: at, runId: run } = next;
    return { turn: { run, to: 'ready', at }, wakeAt: at };
  }

  /** The record that a failed task is to be executed again, which lands with its end. */
  endDrafts(path: string, end: BodyEnd): readonly EventDraft[] {
    // A replay has the recorded one.
    const isReplayed = this.ledger.ports.recording !== undefined;
    if (isReplayed || !isRootOf(path, this.runId) || end.next !== undefined) return [];
    const next = this.#nextExecution(end.status);
    return next === undefined
      ? []
      : [retryDraft(this.runId, next, 'The task has failed, and is executed again as a whole.')];
  }

  #nextExecution(status: BodyEnd['status']): NextExecution | undefined {
    if (status !== 'error' || this.#hasPassedDeadline) return undefined;
    const task = taskOfRun(this.ledger.events, this.runId);
    return task === undefined
      ? undefined
      : nextExecution(task, executionsOf(this.ledger.events, this.runId), this.app.clock.now());
  }

  /** True when its hard deadline has ended the run. */
  get #hasPassedDeadline(): boolean {
    return endingAction(this.ledger.events, this.runId) !== undefined;
  }

  /** Answered model calls of the run. */
  get roundsCompleted(): number {
    return this.ledger.events.filter(
      (event) =>
        event.type === 'model_end' &&
        event.status === 'completed' &&
        belongsTo(event.invocationId ?? '', this.runId),
    ).length;
  }

  #wakeExtras(
    path: string,
    endsRun: boolean,
    extras: BatchExtras | undefined,
  ): BatchExtras | undefined {
    if (!endsRun || this.detached.goesOn || this.#isOtherLaneOpen()) return extras;
    // Children that nobody waits for any more are continued, by whatever process finds the session.
    return openDetached(this.ledger, path).length > 0 ? extras : { wakeAt: null, ...extras };
  }

  /** True when the run of another lane has no outcome: the session is woken for it. */
  #isOtherLaneOpen(): boolean {
    const { invocations } = this.ledger;
    return invocations.roots.some(
      (root) =>
        invocations.byPath.get(root)?.mode === 'root' &&
        laneAt(invocations, root) !== this.lane &&
        !hasOutcome(invocations, root),
    );
  }

  /**
   * Stops everything. `stopped` and `fenced` leave the ledger as it is; `cancelled` is recorded.
   */
  abort(reason: AbortReason): void {
    this.scope.abort(reason);
    this.detached.scope.abort(reason);
  }
}

/** Returns the limits of the agent at a path, as its definition has them now. */
function agentLimits(
  { registry }: AppServices,
  { invocations }: Ledger,
  path: string,
): ConsumptionLimits | undefined {
  const record = invocations.byPath.get(path);
  if (record?.kind !== 'agent' || !registry.has(record.name)) return undefined;
  const runnable = registry.get(record.name);
  if (runnable.kind !== 'agent') return undefined;
  const budget = subtaskBudget(invocations, record);
  return budget === undefined ? runnable.limits : stricter(runnable.limits, budget);
}

/** Returns the limits of an agent that does a subtask with a budget. */
function stricter(limits: ConsumptionLimits, budget: SubtaskBudget): ConsumptionLimits {
  const least = (limit: number | undefined, most: number | undefined): number | undefined =>
    limit === undefined || most === undefined ? (limit ?? most) : Math.min(limit, most);
  const { rounds, tokens, cost } = budget;
  return {
    ...limits,
    rounds: least(limits.rounds, rounds),
    tokens: least(limits.tokens, tokens),
    cost: least(limits.cost, cost),
  };
}
