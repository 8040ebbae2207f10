import { defined } from '../../base/defined.ts';
import type { ErrorRecord } from '../../base/error.ts';
import type { JsonValue } from '../../base/json.ts';
import type { BodyEnd } from '../../engine/frame/invocation.ts';
import type { BodyFrame } from '../../engine/frame/run-context.ts';
import type {
  EndedChild,
  ScheduledChildren,
} from '../../engine/invoke/bodies/scheduled-children.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { PlannedSubtask } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { childPath } from '../../ledger/path.ts';
import type { Plan } from './definition.ts';
import { Failures, type ReplanReason, reasonText } from './failure-rules.ts';
import { planError } from './plan-error.ts';
import { PlanLog } from './plan-log.ts';
import { PlanReviews } from './plan-reviews.ts';
import { Planning } from './planning.ts';
import { type CheckedSubtask, type Generations, revise, withGenerations } from './revision.ts';
import { begunWork, failureOf, workOf } from './subtask-work.ts';
import type { PlanUnderWay, RevisionAuthor } from './under-way.ts';

interface Surroundings {
  readonly children: ScheduledChildren;
  readonly goal: string;
  readonly data: JsonValue | undefined;
}

/** State of a plan under way. It changes with the ends of its children, and with nothing else. */
export class PlanProgress implements PlanUnderWay {
  readonly plan: Plan<unknown>;
  readonly frame: BodyFrame;
  readonly children: ScheduledChildren;
  readonly goal: string;
  readonly data: JsonValue | undefined;
  readonly log: PlanLog;
  readonly #planning: Planning;
  readonly #reviews: PlanReviews;
  /** Number of the revision; 0 before the first. */
  revision = 0;
  subtasks: readonly PlannedSubtask[] = [];
  hash = '';
  /** Outputs by key, those of subtasks that the plan no longer has as well. */
  readonly outputs = new Map<string, JsonValue>();
  /** Last failures by key. */
  readonly errors = new Map<string, ErrorRecord>();
  #generations: Generations = new Map();
  #failures: Failures;
  /** Keys of the children of subtasks that were started, with those of the subtasks. */
  readonly #started = new Map<string, string>();
  readonly #attempts = new Map<string, number>();
  /** Ids of subtasks for which a new plan was made. */
  readonly #blamed = new Set<string>();
  #replans = 0;

  constructor(plan: Plan<unknown>, frame: BodyFrame, { children, goal, data }: Surroundings) {
    this.plan = plan;
    this.frame = frame;
    this.children = children;
    this.goal = goal;
    this.data = data;
    this.log = new PlanLog(frame);
    this.#planning = new Planning(this);
    this.#reviews = new PlanReviews(this);
    this.#failures = new Failures(plan.limits.attempts);
  }

  begin(): void {
    this.#planning.ask({ task: 'plan' });
  }

  /** Takes the end of a child. Returns the end of the plan when it follows from it. */
  async take({ key, record }: EndedChild): Promise<BodyEnd | undefined> {
    if (this.#planning.isAsked(key)) return this.#planning.answered(record);
    if (this.#reviews.isAsked(key)) return this.#reviews.answered(record);
    const subtaskKey = this.#started.get(key);
    this.#started.delete(key);
    if (subtaskKey === undefined) return undefined;
    if (record.status === 'completed') {
      this.outputs.set(subtaskKey, this.#outputOf(record));
      this.errors.delete(subtaskKey);
      this.#failures.succeeded();
    } else {
      const subtask = this.subtasks.find((one) => one.key === subtaskKey);
      // A subtask that the plan no longer has was cancelled, or does not matter any more.
      const end =
        subtask === undefined || this.log.isTakenBack(record)
          ? undefined
          : this.#failed(subtask, this.#noted(subtask, failureOf(record, subtask)));
      if (end !== undefined) return end;
    }
    return this.advance();
  }

  #noted({ key }: PlannedSubtask, error: ErrorRecord): ErrorRecord {
    this.errors.set(key, error);
    return error;
  }

  #outputOf({ output }: InvocationRecord): JsonValue {
    return (this.frame.run.ledger.resolve(output) as JsonValue | undefined) ?? null;
  }

  /** Keys of the completed subtasks. */
  get finished(): ReadonlySet<string> {
    return new Set(this.outputs.keys());
  }

  isRunning(subtaskKey: string): boolean {
    const attempt = this.#attempts.get(subtaskKey);
    return attempt !== undefined && this.children.has(childKeyOf(subtaskKey, attempt));
  }

  /** Starts subtasks whose dependencies are completed, and ends the plan when all are. */
  async advance(): Promise<BodyEnd | undefined> {
    if (this.#planning.isOpen || this.#reviews.isOpen) return undefined;
    const keys = new Map(this.subtasks.map(({ id, key }) => [id, key]));
    const isDone = (id: string): boolean => this.outputs.has(keys.get(id) ?? '');
    if (this.subtasks.every(({ id }) => isDone(id))) return this.#completedEnd();
    for (const subtask of this.subtasks) {
      const { key, id, dependsOn } = subtask;
      if (isDone(id) || this.isRunning(key) || !dependsOn.every(isDone)) continue;
      const end = await this.#start(subtask, keys);
      if (end !== undefined || this.#planning.isOpen) return end;
    }
    return undefined;
  }

  async #start(
    subtask: PlannedSubtask,
    keys: ReadonlyMap<string, string>,
  ): Promise<BodyEnd | undefined> {
    const { run, record } = this.frame;
    const { key } = subtask;
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    this.#attempts.set(key, attempt);
    const childKey = childKeyOf(key, attempt);
    const begun = run.ledger.invocations.byPath.get(childPath(record.path, childKey));
    const outputOf = (id: string) => this.outputs.get(keys.get(id) ?? '');
    const work =
      begun === undefined
        ? await workOf(this.plan, subtask, { outputOf })
        : begunWork(this.plan, subtask, begun, run.ledger);
    if ('failure' in work) return this.#failedBefore(subtask, work.failure);
    this.#started.set(childKey, key);
    // A worker that the code no longer has: the invoke rule refuses any other one for its record.
    this.children.start({
      key: childKey,
      runnable: work.runnable ?? this.plan.planner,
      input: work.input,
      timeoutMs: work.runnable?.kind === 'agent' ? run.app.defaults.agentCallTimeoutMs : undefined,
    });
    return undefined;
  }

  /** Records the failure of a subtask that was not started: no invocation tells of it. */
  #failedBefore(subtask: PlannedSubtask, error: ErrorRecord): BodyEnd | undefined {
    this.log.record({
      type: 'plan_update',
      by: 'runtime',
      invocationId: this.frame.record.path,
      revision: this.revision,
      subtask: subtask.id,
      key: subtask.key,
      status: 'failed',
      error,
    });
    this.errors.set(subtask.key, error);
    return this.#failed(subtask, error);
  }

  #failed(subtask: PlannedSubtask, error: ErrorRecord): BodyEnd | undefined {
    const { id, key } = subtask;
    const { revision } = this;
    const data = { revision, subtask: id, error };
    const invocationId = this.frame.record.path;
    if (this.#planning.isOpen) {
      const reasoning = `Subtask "${id}" failed while a new plan is being made, which answers it.`;
      this.log.record(decision('plan', 'wait', { invocationId, reasoning, data }));
      return undefined;
    }
    const because = this.#failures.failed(subtask, error);
    if (because !== undefined) return this.#replan(subtask, error, because);
    const attempt = (this.#attempts.get(key) ?? 0) + 1;
    const reasoning = `Subtask "${id}" failed (${error.message}) and is tried again.`;
    const alternatives = ['make another plan'];
    this.log.record(
      decision('plan', 'retry', {
        invocationId,
        reasoning,
        alternatives,
        data: { ...data, attempt },
      }),
    );
    return undefined;
  }

  #replan({ id }: PlannedSubtask, error: ErrorRecord, because: ReplanReason): BodyEnd | undefined {
    const { revision } = this;
    const data = { revision, subtask: id, error };
    const invocationId = this.frame.record.path;
    const failed = `Subtask "${id}" failed (${error.message})`;
    if (this.#replans >= this.plan.limits.replans) {
      const replans = this.#replans;
      const reasoning = `${failed}, and ${replans} new plans were made already.`;
      this.log.record(
        decision('plan', 'give_up', { invocationId, reasoning, data: { ...data, replans } }),
      );
      if (!this.log.takeBack()) return this.#givenUpEnd(id, error);
      // People have opened the plan again: it begins to count anew.
      this.#replans = 0;
      this.#failures = new Failures(this.plan.limits.attempts);
      return undefined;
    }
    this.#replans++;
    const task = this.#blamed.has(id) ? 'decompose' : 'replan';
    this.#blamed.add(id);
    const reasoning = `${failed}; ${reasonText[because]}, so another plan is made.`;
    const alternatives = ['try it again', 'give up'];
    this.log.record(
      decision('plan', task, { invocationId, reasoning, alternatives, data: { ...data, because } }),
    );
    this.#reviews.withdraw();
    this.#planning.ask({ task, reason: `${failed}.` });
    return undefined;
  }

  /**
   * Makes checked subtasks the plan. A recorded revision stays what it is, whatever the code makes
   * of its author's answer now.
   */
  async adopt(given: readonly CheckedSubtask[], { by, basedOn }: RevisionAuthor): Promise<void> {
    const { run, record } = this.frame;
    const before = this.subtasks;
    const { finished } = this;
    const next =
      this.log.recordedRevision ??
      revise(before, given, { finished, generations: this.#generations });
    const stay = new Set(next.subtasks.map(({ key }) => key));
    const dropped = [...this.#started].filter(
      ([child, key]) => !stay.has(key) && this.children.has(child) && !this.children.forget(child),
    );
    const cancels = dropped.map(([child]) => child);
    const { subtasks, diff, hash } = next;
    this.revision++;
    this.log.record({
      type: 'plan',
      by,
      invocationId: record.path,
      revision: this.revision,
      basedOn,
      goal: this.goal,
      subtasks,
      diff,
      ...defined({ cancels: cancels.length > 0 ? cancels : undefined }),
      hash,
    });
    this.subtasks = subtasks;
    this.hash = hash;
    this.#generations = withGenerations(this.#generations, subtasks);
    this.#failures = new Failures(this.plan.limits.attempts);
    if (cancels.length === 0) return;
    // Nothing is cancelled for a revision that could be lost.
    await run.ledger.durable();
    for (const child of cancels)
      this.children.cancel(child, `Revision ${this.revision} of the plan has no such subtask.`);
  }

  /** Goes on with a new revision: asks for its review, or starts it. */
  goOn(author: 'planner' | 'person'): Promise<BodyEnd | undefined> {
    if (author === 'planner' && this.#reviews.isDue(this.revision)) this.#reviews.ask();
    return this.advance();
  }

  async #completedEnd(): Promise<BodyEnd> {
    const outputs: Record<string, JsonValue> = {};
    for (const { id, key } of this.subtasks) outputs[id] = this.outputs.get(key) ?? null;
    const output = this.plan.output === undefined ? outputs : this.plan.output(outputs);
    return { status: 'completed', output };
  }

  #givenUpEnd(id: string, error: ErrorRecord): BodyEnd {
    const completed = this.subtasks.flatMap((one) => (this.outputs.has(one.key) ? one.id : []));
    return planError({
      code: 'plan_failed',
      message:
        `Subtask "${id}" failed: ${error.message.replace(/\.$/, '')}. ${this.#replans} new plans ` +
        `have not helped; ${completed.length} of ${this.subtasks.length} subtasks are completed. ` +
        'Ask for a simpler goal, or one that does not need this subtask.',
      data: { goal: this.goal, subtask: id, revisions: this.revision, completed },
    });
  }

  /** End of a plan in which nothing can go on. */
  stuckEnd(): BodyEnd {
    const left = this.subtasks.flatMap((one) => (this.outputs.has(one.key) ? [] : one.id));
    return planError({
      code: 'plan_failed',
      message: `Nothing can go on; what is left is ${left.join(', ')}.`,
      data: { goal: this.goal, left },
    });
  }
}

/** Key of the child that is an attempt at a subtask. */
function childKeyOf(subtaskKey: string, attempt: number): string {
  return attempt === 1 ? subtaskKey : `${subtaskKey}#${attempt}`;
}
