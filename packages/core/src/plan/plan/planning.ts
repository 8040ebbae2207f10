import { defined } from '../../base/defined.ts';
import type { JsonValue } from '../../base/json.ts';
import type { BodyEnd } from '../../engine/frame/invocation.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import type { InvocationInput } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';
import { childPath } from '../../ledger/path.ts';
import { findJson } from '../../models/json-text.ts';
import type { Agent } from '../../runnables/agent.ts';
import { checkPlan, rulesOf } from './check-plan.ts';
import { planError } from './plan-error.ts';
import type { PlanRequest, SubtaskReport } from './plan-options.ts';
import { plannerMessage } from './planner-message.ts';
import type { PlanUnderWay } from './under-way.ts';

/** Times that a planner is asked again about one plan, because its answer cannot be carried out. */
const mostCorrections = 3;

type Question = Pick<PlanRequest, 'task' | 'reason' | 'problems' | 'refused'>;

/** The planner of a plan under way: one at a time, a child of the plan. */
export class Planning {
  readonly #progress: PlanUnderWay;
  #question: Question | undefined;
  #key: string | undefined;
  #corrections = 0;
  /** Times that the planner was asked for the next revision. */
  #asked = 0;

  constructor(progress: PlanUnderWay) {
    this.#progress = progress;
  }

  /** True while the planner thinks. */
  get isOpen(): boolean {
    return this.#key !== undefined;
  }

  isAsked(key: string): boolean {
    return this.#key === key;
  }

  /** Asks the planner for the next revision. */
  ask(question: Question): void {
    const { plan, frame, children, revision } = this.#progress;
    this.#question = question;
    const { ledger, app } = frame.run;
    const nth = `plan#${revision + 1}`;
    this.#key = this.#asked === 0 ? nth : `${nth}.${this.#asked}`;
    this.#asked++;
    const begun = ledger.invocations.byPath.get(childPath(frame.record.path, this.#key));
    const { planner } = plan;
    children.start({
      key: this.#key,
      runnable: planner,
      isUnlimited: true,
      input:
        begun === undefined
          ? this.#inputFor(question)
          : (ledger.resolve(begun.input) as InvocationInput | undefined),
      timeoutMs: planner.kind === 'agent' ? app.defaults.agentCallTimeoutMs : undefined,
    });
  }

  #inputFor(question: Question): InvocationInput {
    const { plan, goal } = this.#progress;
    const request = this.#request(question);
    const { planner } = plan;
    if (planner.kind !== 'agent') return { message: goal, data: request as unknown as JsonValue };
    const message = plannerMessage(request);
    return (planner as Agent).input === undefined
      ? { message }
      : { message, data: request as unknown as JsonValue };
  }

  #request(question: Question): PlanRequest {
    const { plan, goal, data, revision } = this.#progress;
    return {
      goal,
      ...defined({ data }),
      workers: plan.workers.map(({ name, description }) => ({ name, ...defined({ description }) })),
      tools: plan.tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema,
      })),
      mostSubtasks: plan.limits.subtasks,
      ...(revision === 0 ? {} : { subtasks: this.#reports() }),
      ...question,
    };
  }

  #reports(): readonly SubtaskReport[] {
    const { subtasks, outputs, errors } = this.#progress;
    return subtasks.map(({ key, ...subtask }) => {
      const output = outputs.get(key);
      const error = errors.get(key)?.message;
      const status =
        output !== undefined
          ? 'completed'
          : this.#progress.isRunning(key)
            ? 'executing'
            : error === undefined
              ? 'pending'
              : 'failed';
      return { ...subtask, status, ...defined({ output, error }) };
    });
  }

  /** Takes the answer of the planner: it becomes the plan, or the planner is told what is wrong. */
  async answered(record: InvocationRecord): Promise<BodyEnd | undefined> {
    this.#key = undefined;
    const progress = this.#progress;
    const { goal } = progress;
    if (progress.log.isTakenBack(record)) return this.#askAgain();
    if (record.status !== 'completed') {
      if (progress.log.takeBack()) return this.#askAgain();
      const why = record.error?.message ?? `it ended as ${record.status}`;
      return planError({
        code: 'planner_failed',
        message: `The planner gave no plan: ${why}`,
        data: { goal },
      });
    }
    const given = await this.#planIn(record.output);
    const before = { subtasks: progress.subtasks, finished: progress.finished };
    const recorded = progress.log.recordedRevision;
    const checked =
      recorded === undefined ? await checkPlan(given, rulesOf(progress.plan), before) : recorded;
    if ('problems' in checked) return this.#correct(checked.problems, given ?? null);
    this.#corrections = 0;
    this.#asked = 0;
    await progress.adopt(checked.subtasks, { by: 'runtime', basedOn: record.start.seq });
    return progress.goOn('planner');
  }

  async #planIn(output: JsonValue | undefined): Promise<JsonValue | undefined> {
    const given = this.#progress.frame.run.ledger.resolve(output) as JsonValue | undefined;
    if (typeof given !== 'string') return given;
    return (await findJson(given)) ?? given;
  }

  /** Asks the planner once more, after people have opened the plan again. */
  #askAgain(): undefined {
    this.ask(this.#question ?? { task: 'plan' });
  }

  #correct(problems: readonly string[], refused: JsonValue): BodyEnd | undefined {
    const { goal, revision, frame, log } = this.#progress;
    if (this.#corrections >= mostCorrections && log.takeBack()) this.#corrections = 0;
    if (this.#corrections >= mostCorrections)
      return planError({
        code: 'plan_invalid',
        message:
          `The planner gave no plan that can be carried out, ${mostCorrections + 1} times: ` +
          `${problems.join('; ')}.`,
        data: { goal, problems },
      });
    this.#corrections++;
    log.record(
      decision('plan', 'correct', {
        invocationId: frame.record.path,
        reasoning: `The plan cannot be carried out, and the planner is told why: ${problems[0]}.`,
        data: { revision: revision + 1, problems },
      }),
    );
    const { task = 'plan', reason } = this.#question ?? {};
    this.ask({ task, ...defined({ reason }), problems, refused });
    return undefined;
  }
}
