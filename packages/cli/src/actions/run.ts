import { openAccess } from '../access/open-access.ts';
import { UsageError } from '../failure.ts';
import type { RunContext } from './carry-out.ts';

/** `adjutant run "goal"`: runs the agent on a goal. */
export async function runGoal(
  context: RunContext,
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
