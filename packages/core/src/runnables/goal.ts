import {
  isCount,
  isFunction,
  isGroup,
  isNonEmptyText,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import type { SessionReader } from '../session/body-context.ts';

/** Context for the check of a goal, besides the answer. */
export interface GoalContext {
  /** Name of the agent. */
  readonly agent: string;
  readonly invocationId: string;
  /** 1 for the first answer that is checked. */
  readonly attempt: number;
  /** State by scope, as the agent sees it: `state.session.mode`. */
  readonly state: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly session: SessionReader;
  /** Aborted when the run is cancelled or released. */
  readonly signal: AbortSignal;
}

/**
 * `true`, or nothing to object: the goal is reached. `false`, or a text that says why: it is not.
 */
export type GoalVerdict = boolean | string | { readonly ok: boolean; readonly reason?: string };

/** The goal of an agent. */
export interface Goal<Output = unknown> {
  /** Description for the model, ahead of everything else. */
  readonly description?: string;
  /** Criteria of a good answer, sent to the model with the description. */
  readonly expectedOutput?: string;
  /**
   * Checks that an answer is good enough. Otherwise the model gets another round with the reason.
   * An error counts as not good enough. It may be called again with the same answer when the
   * process stops before the answer is recorded. A tool result that is `final` is not checked.
   */
  check?(
    output: Output,
    ctx: GoalContext,
  ): GoalVerdict | undefined | Promise<GoalVerdict | undefined>;
  /**
   * Rounds that the check may ask for beyond the first answer. When they are used up the last
   * answer stands, with the stop reason `goal_unmet`. @default 3
   */
  readonly attempts?: number;
}

/** The goal of an agent with any type of answer. */
export interface ResolvedGoal extends Goal {
  readonly attempts: number;
}

const defaultAttempts = 3;

const checks: OptionChecks<Goal> = {
  description: isNonEmptyText,
  expectedOutput: isNonEmptyText,
  check: isFunction,
  attempts: isCount,
};

/** Requirement on the option `goal`. */
export const isGoal: OptionCheck = isGroup(checks);

export function resolveGoal<Output>(goal: Goal<Output> | undefined): ResolvedGoal | undefined {
  if (goal === undefined) return undefined;
  return Object.freeze({ ...goal, attempts: goal.attempts ?? defaultAttempts }) as ResolvedGoal;
}
