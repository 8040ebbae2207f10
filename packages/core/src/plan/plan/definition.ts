import type { JsonValue } from '../../base/json.ts';
import type { Agent } from '../../runnables/agent.ts';
import type { Runnable } from '../../session/runnable.ts';
import type { Tool } from '../../tools/tool.ts';
import type { PlanLimits, PlanOptions, PlanReview } from './plan-options.ts';

/**
 * A goal that is divided into subtasks, which depend on each other and are done side by side. The
 * output has that of each subtask by its id.
 */
export interface Plan<Output = Readonly<Record<string, JsonValue>>, Name extends string = string>
  extends Runnable<Output, Name> {
  readonly kind: 'plan';
  /** The planner, the workers, and an agent for each tool. */
  readonly parts: readonly Runnable[];
  readonly planner: Runnable;
  readonly workers: readonly Runnable[];
  readonly tools: readonly Tool[];
  /** Agents that call the tools, in the same order. */
  readonly toolAgents: readonly Agent[];
  readonly limits: PlanLimits;
  readonly review: PlanReview | undefined;
  readonly output: PlanOptions['output'];
}
