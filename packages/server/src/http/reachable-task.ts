import { TaskNotFoundError } from 'adjutant/errors';
import type { TaskInfo } from 'adjutant/scheduler';
import { defined } from 'adjutant/text';
import type { Principal } from '../access/principal.ts';
import type { TaskAnswer } from '../schemas/task.ts';
import type { Asking } from './reachable.ts';

/**
 * True when the caller may know of a task of its tenant: one that its user has requested, if it is
 * bound to one, and of its agents, if it is bound to some.
 */
export function isTaskInReach(
  { principal }: { readonly principal: Pick<Principal, 'user' | 'agents'> },
  { requester, runnable }: Pick<TaskInfo, 'requester' | 'runnable'>,
): boolean {
  const isOwn = principal.user === undefined || requester === principal.user;
  return isOwn && (principal.agents === undefined || principal.agents.includes(runnable));
}

/**
 * A task that the caller may know of.
 * @throws TaskNotFoundError also for tasks that are out of reach: they are not there
 */
export async function reachableTask(input: Asking, id: string): Promise<TaskInfo> {
  const found = await input.app.tasks.get(id);
  if (isTaskInReach(input, found)) return found;
  throw new TaskNotFoundError({ task: id, app: input.app.app });
}

/** Returns a task as answers have it. */
export function taskAnswer({ tenant: _, runnable, ...task }: TaskInfo): TaskAnswer {
  const { error, maxRounds, ...rest } = task;
  return {
    ...rest,
    agent: runnable,
    ...defined({ maxRounds }),
    ...(error === undefined ? {} : { error: { ...error } }),
  };
}
