import { defined } from '../../base/defined.ts';
import { asJson, type JsonValue } from '../../base/json.ts';
import type { BodyEnd } from '../../engine/frame/invocation.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import type { Approval, Question } from '../../runnables/waits.ts';
import { checkPlan, rulesOf } from './check-plan.ts';
import { planError } from './plan-error.ts';
import { schemaOf, subtasksSchema } from './subtask-schema.ts';
import type { PlanUnderWay } from './under-way.ts';

/**
 * Reviews of the revisions of a plan by people: questions of the one request protocol. A question
 * names the hash of its revision, and goes with it.
 */
export class PlanReviews {
  readonly #progress: PlanUnderWay;
  #key: string | undefined;
  #count = 0;

  constructor(progress: PlanUnderWay) {
    this.#progress = progress;
  }

  /** True while people have not decided. */
  get isOpen(): boolean {
    return this.#key !== undefined;
  }

  isAsked(key: string): boolean {
    return this.#key === key;
  }

  isDue(revision: number): boolean {
    const { review } = this.#progress.plan;
    return review !== undefined && (review.when === 'each' || revision === 1);
  }

  ask(): void {
    const { children } = this.#progress;
    this.#count++;
    this.#key = `review#${this.#count}`;
    children.start({ key: this.#key, runnable: this.#question(this.#key), isUnlimited: true });
  }

  /** Withdraws the open review: its revision is replaced. */
  withdraw(): void {
    const { children } = this.#progress;
    if (this.#key !== undefined && !children.forget(this.#key))
      children.cancel(this.#key, 'The plan is replaced by another one.', 'left');
    this.#key = undefined;
  }

  #question(name: string): Question {
    const { plan, revision, hash, goal, subtasks } = this.#progress;
    const { mayDecide, expiresInMs } = plan.review ?? {};
    const shown = subtasks.map(({ key: _key, ...subtask }) => subtask);
    return Object.freeze({
      kind: 'question' as const,
      name,
      asker: plan.name,
      options: {
        message: `Carry out the plan "${plan.name}" with ${subtasks.length} subtasks?`,
        details: asJson({ plan: plan.name, revision, hash, goal, subtasks: shown } as object),
        ...defined({ mayDecide, expiresInMs }),
      },
      schema: undefined,
      inputSchema: subtasksSchema,
      edits: schemaOf(async (value) => {
        const checked = await this.#check(value);
        return 'problems' in checked ? checked.problems : [];
      }),
    });
  }

  #check(given: unknown): ReturnType<typeof checkPlan> {
    const { plan, subtasks, finished } = this.#progress;
    return checkPlan(given, rulesOf(plan), { subtasks, finished });
  }

  /** Takes the decision of people. What they changed becomes a revision of theirs. */
  async answered(record: InvocationRecord): Promise<BodyEnd | undefined> {
    const progress = this.#progress;
    this.#key = undefined;
    const resolved = progress.frame.run.ledger.resolve(record.output) as unknown;
    const isTakenBack = progress.log.isTakenBack(record);
    if (isTakenBack || (!isApproved(record, resolved) && progress.log.takeBack())) {
      this.ask();
      return undefined;
    }
    if (record.status !== 'completed') return rejected(progress.goal, record.error?.message);
    const { approved, by, reason, input } = resolved as Approval & { readonly input?: JsonValue };
    if (!approved) return rejected(progress.goal, reason);
    if (input === undefined) return progress.advance();
    const recorded = progress.log.recordedRevision;
    const checked = recorded ?? (await this.#check(input));
    if ('problems' in checked) {
      this.ask();
      return undefined;
    }
    await progress.adopt(checked.subtasks, { by, basedOn: record.start.seq });
    return progress.goOn('person');
  }
}

function isApproved({ status }: InvocationRecord, resolved: unknown): boolean {
  return status === 'completed' && (resolved as Approval).approved;
}

function rejected(goal: string, reason: string | undefined): BodyEnd {
  const why = reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`;
  const message = `The plan was rejected${why}.`;
  return planError({
    code: 'plan_rejected',
    message,
    data: { goal, ...defined({ reason }) },
  });
}
