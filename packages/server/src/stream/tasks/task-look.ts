import { isAdjutantError, type Runtime } from 'adjutant';
import { endedTaskStates, openTaskStates, type TaskInfo } from 'adjutant/scheduler';
import type { Look } from '../watches/watch.ts';

/** Tasks by id. */
export type KnownTasks = ReadonlyMap<string, KnownTask>;

interface KnownTask {
  readonly task: TaskInfo;
  /** The task as text, by which it is compared. A result comes with a new state. */
  readonly text: string;
}

const mostOpen = 1_000;
const mostEnded = 100;

/** Milliseconds from a hint to a look at the queue. */
export const taskSettleMs = 50;

/** True for a task that has not ended. */
export function isOpenTask({ state }: TaskInfo): boolean {
  return openTaskStates.includes(state);
}

/** The tasks that had not ended at a look. */
export function openTasks(known: KnownTasks): readonly TaskInfo[] {
  return [...known.values()].map(({ task }) => task).filter(isOpenTask);
}

/** Looks at the tasks of an app as they are listed. */
export function taskLook({ tasks }: Pick<Runtime, 'tasks'>): Look<KnownTasks, TaskInfo> {
  return async (before) => {
    const found = await tasksNow(tasks, before ?? new Map());
    const known = new Map(found.map((task) => [task.id, { task, text: textOf(task) }]));
    if (before === undefined) return { known, changes: [] };
    const changed = [...known.values()].filter(
      ({ task, text }) => before.get(task.id)?.text !== text,
    );
    return { known, changes: changed.map(({ task }) => task) };
  };
}

/** The open tasks, the newest ended ones, and those that were open before. */
async function tasksNow(tasks: Runtime['tasks'], before: KnownTasks): Promise<readonly TaskInfo[]> {
  const open = await tasks.list({ limit: mostOpen });
  const ended = await tasks.list({ states: endedTaskStates, limit: mostEnded });
  // A task that ended between the two reads is in both lists: its end is the newer one.
  const found = new Map([...open, ...ended].map((task) => [task.id, task]));
  for (const [id, { task }] of before) {
    if (!isOpenTask(task) || found.has(id)) continue;
    const ending = await taskOf(tasks, id);
    if (ending !== undefined) found.set(id, ending);
  }
  return [...found.values()];
}

async function taskOf(tasks: Runtime['tasks'], id: string): Promise<TaskInfo | undefined> {
  try {
    return await tasks.get(id);
  } catch (error) {
    if (isAdjutantError(error, 'task_not_found')) return undefined;
    throw error;
  }
}

function textOf({ result: _, ...task }: TaskInfo): string {
  return JSON.stringify(task);
}
