import type { JsonValue } from '../../base/json.ts';
import type { BodyEnd } from '../../engine/frame/invocation.ts';

/** End of a plan as an error. */
export function planError(error: {
  readonly code: 'plan_failed' | 'plan_invalid' | 'plan_rejected' | 'planner_failed';
  readonly message: string;
  readonly data: Readonly<Record<string, JsonValue>>;
}): BodyEnd {
  return { status: 'error', error: { name: 'PlanError', ...error } };
}
