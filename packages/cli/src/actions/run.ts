import type { GoalContext } from '../access/app-access.ts';
import { openAccess } from '../access/open-access.ts';
import { UsageError } from '../failure.ts';

/** `adjutant run "goal"`: runs the agent on a goal. */
export async function runGoal(
  context: GoalContext,
  goal: string,
  sessionId: string | undefined,
): Promise<number> {
  if (goal.trim() === '')
    throw new UsageError({
      reason: 'The goal is missing. Say what is to be done: adjutant run "List the files here"',
    });
  const access = await openAccess(context.host, context.options);
  return access.run(context, goal, sessionId);
}
