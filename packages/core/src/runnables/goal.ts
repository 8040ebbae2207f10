import {
  isCount,
  isFunction,
  isGroup,
  isNonEmptyText,
  type OptionCheck,
  type OptionChecks,
} from '../base/options.ts';
import type { SessionReader } from '../session/body-context.ts';

/** What the check of a goal sees besides the answer. */
export interface GoalContext {
  /** Name of the agent. */
  readonly agent: string;
  readonly invocationId: string;
  /** 1 for the first answer that is checked. */
  readonly attempt: number;
  /** State by scope, as the agent sees it: `state.session.mode`. */
  readonly state: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly session: SessionReader;
  /** Aborted when the run is cancelled or given back. */
  readonly signal: AbortSignal;
}

/**
 * `true`, or nothing to object: the goal is reached. `false`, or a text that says why: it is not.
 */
export type GoalVerdict = boolean | string | { readonly ok: boolean; readonly reason?: string };

/** What an agent is to reach. */
export interface Goal<Output = unknown> {
  /** The model is told it, ahead of everything else. */
  readonly description?: string;
  /** What a good answer has; told with the description. */
  readonly expectedOutput?: string;
  /**
   * Says whether an answer is good enough. One that is not gives the model another round with the
   * reason. What it throws counts as not good enough. It may be called again with the same answer
   * when the process stops before the answer is recorded. A tool result that is `final` is not
   * checked.
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

/** A goal as an agent has it, whatever it answers with. */
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

/** What the option `goal` must be. */
export const isGoal: OptionCheck = isGroup(checks);

export function resolveGoal<Output>(goal: Goal<Output> | undefined): ResolvedGoal | undefined {
  if (goal === undefined) return undefined;
  return Object.freeze({ ...goal, attempts: goal.attempts ?? defaultAttempts }) as ResolvedGoal;
}
