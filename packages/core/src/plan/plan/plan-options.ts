import type { JsonObject, JsonValue } from '../../base/json.ts';
import {
  findInvalidOption,
  isCount,
  isCountOrNone,
  isFunction,
  isGroup,
  isList,
  isListOfText,
  isOneOf,
  isPositive,
  isPositiveOrNone,
  isText,
  type OptionCheck,
  type OptionChecks,
} from '../../base/options.ts';
import type { Subtask } from '../../ledger/event.ts';
import { isRunnable, type Runnable } from '../../session/runnable.ts';
import type { Tool } from '../../tools/tool.ts';

/** Limits of a plan. */
export interface PlanLimits {
  /** Subtasks of one revision. @default 20 */
  readonly subtasks: number;
  /** New plans after failures. @default 3 */
  readonly replans: number;
  /** Subtasks that work at the same time; those that wait for people are not counted. @default 4 */
  readonly parallel: number;
  /** Failures of one subtask after which a new plan is made. @default 3 */
  readonly attempts: number;
  /** Tokens and US dollars that the budgets of all subtasks may add up to. @default none */
  readonly tokens: number | undefined;
  readonly cost: number | undefined;
}

/** Review of a plan by people, before it is carried out. */
export interface PlanReview {
  /** `first`: only the first plan. `each`: each new plan after a failure, too. */
  readonly when: 'first' | 'each';
  /** People who may decide. @default anybody */
  readonly mayDecide?: readonly string[];
  /** @default `defaults.approvalExpiresInMs` of the runtime; then the plan is rejected */
  readonly expiresInMs?: number | false;
}

/** A subtask, as a planner is told of it. */
export interface SubtaskReport extends Subtask {
  readonly status: 'completed' | 'failed' | 'executing' | 'pending';
  readonly output?: JsonValue;
  readonly error?: string;
}

/** Question to a planner. */
export type PlanRequest = {
  readonly goal: string;
  /** Data that the plan was started with. */
  readonly data?: JsonValue;
  /**
   * `plan`: the first plan. `replan`: another way after a failure. `decompose`: a subtask has
   * failed in two plans, and smaller steps are wanted.
   */
  readonly task: 'plan' | 'replan' | 'decompose';
  readonly workers: readonly { readonly name: string; readonly description?: string }[];
  readonly tools: readonly {
    readonly name: string;
    readonly description: string;
    readonly inputSchema: JsonObject;
  }[];
  readonly mostSubtasks: number;
  /** Subtasks of the plan so far, for a replan. */
  readonly subtasks?: readonly SubtaskReport[];
  /** Reason for the replan. */
  readonly reason?: string;
  /** Problems of the last answer, and that answer, when the planner is asked again. */
  readonly problems?: readonly string[];
  readonly refused?: JsonValue;
};

/** Plans in code: a pure function of the request, or one that only reads. */
export type PlannerFunction = (
  request: PlanRequest,
) => readonly Subtask[] | Promise<readonly Subtask[]>;

export interface PlanOptions<Name extends string = string> {
  readonly name: Name;
  readonly description?: string;
  /** An agent, another runnable that gives a list of subtasks, or a function. */
  readonly planner: Runnable | PlannerFunction;
  /** Runnables that do subtasks. The first one does those that name none. */
  readonly workers?: readonly Runnable[];
  /** Tools that do subtasks, called with the `args` of the subtask and without a model. */
  readonly tools?: readonly Tool[];
  readonly limits?: Partial<PlanLimits>;
  /** `true` is `'first'`. @default nobody is asked */
  readonly review?: boolean | 'first' | 'each' | PlanReview;
  /**
   * Makes the output of the outputs of all subtasks by id: a pure function.
   * @default the outputs by id
   */
  readonly output?: (outputs: Readonly<Record<string, JsonValue>>) => JsonValue;
  readonly version?: string;
}

const isPlanner: OptionCheck = (value) =>
  typeof value === 'function' || isRunnable(value)
    ? undefined
    : 'an agent, another runnable, or a function';

const limitChecks: OptionChecks<PlanLimits> = {
  subtasks: isCount,
  replans: isCountOrNone,
  parallel: isCount,
  attempts: isCount,
  tokens: isPositive,
  cost: isPositive,
};

const reviewChecks: OptionChecks<PlanReview> = {
  when: isOneOf('first', 'each'),
  mayDecide: isListOfText,
  expiresInMs: isPositiveOrNone,
};

const isReview: OptionCheck = (value) => {
  if (typeof value === 'boolean' || value === 'first' || value === 'each') return undefined;
  const invalid = findInvalidOption(value, reviewChecks);
  if (invalid !== undefined) return `true, 'first', 'each' or an object ${invalid.within}`;
  return (value as Partial<PlanReview>).when === undefined ? 'an object with `when`' : undefined;
};

const isListOfRunnables: OptionCheck = (value) =>
  Array.isArray(value) && value.every(isRunnable)
    ? undefined
    : 'a list of agents, steps and other runnables';

export const planChecks: OptionChecks<PlanOptions> = {
  name: isText,
  description: isText,
  planner: isPlanner,
  workers: isListOfRunnables,
  tools: isList,
  limits: isGroup(limitChecks),
  review: isReview,
  output: isFunction,
  version: isText,
};

export function resolveReview(review: PlanOptions['review']): PlanReview | undefined {
  if (review === undefined || review === false) return undefined;
  if (typeof review === 'object') return Object.freeze({ ...review });
  return Object.freeze({ when: review === true ? 'first' : review });
}
