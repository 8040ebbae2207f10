import type { JsonValue } from '../../base/json.ts';
import type { BodyEnd } from '../../engine/frame/invocation.ts';
import type { BodyFrame } from '../../engine/frame/run-context.ts';
import { ScheduledChildren } from '../../engine/invoke/bodies/scheduled-children.ts';
import { cancelledEnd, isReleased } from '../../engine/invoke/invoke.ts';
import { messageFor } from '../../engine/invoke/run-message.ts';
import { leavesOpen } from '../../ledger/errors.ts';
import type { Plan } from './definition.ts';
import { PlanProgress } from './plan-progress.ts';

/**
 * Runs a plan: one end after the other is given to its progress, which starts what comes next. The
 * plan does the same again after the same ends, so it is continued by running it from the top.
 */
export async function runPlan(plan: Plan<unknown>, frame: BodyFrame): Promise<BodyEnd | undefined> {
  const { run, record } = frame;
  const children = new ScheduledChildren(frame, { limit: plan.limits.parallel });
  const data = run.ledger.resolve(record.input?.data) as JsonValue | undefined;
  const goal =
    messageFor(run.ledger, record) ?? (data === undefined ? plan.name : JSON.stringify(data));
  const progress = new PlanProgress(plan, frame, { children, goal, data });
  try {
    return await carriedOut(progress, frame, children);
  } catch (error) {
    // Nothing may be left under way below a plan that has ended.
    const why = `"${record.path}" could not be carried on.`;
    if (leavesOpen(error)) await children.stop(why);
    else {
      children.cancelAll(why);
      while ((await children.next()) !== undefined);
    }
    throw error;
  }
}

async function carriedOut(
  progress: PlanProgress,
  { run, record, scope }: BodyFrame,
  children: ScheduledChildren,
): Promise<BodyEnd | undefined> {
  progress.begin();
  let end: BodyEnd | undefined;
  for (;;) {
    const ended = await children.next();
    if (isReleased(run, scope)) return undefined;
    if (scope.aborted) return cancelledEnd(scope);
    if (ended === undefined) return end ?? progress.stuckEnd();
    // Cancelled subtasks end before the plan does.
    end ??= await progress.take(ended);
    if (end !== undefined) children.cancelAll(`"${record.path}" ends.`);
  }
}
