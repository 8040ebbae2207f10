import { taskPriorities } from '../../ledger/folds/task-level.ts';

/**
 * Priority of a task.
 * - `realtime`: a person waits for the first word. It takes a reserved slot.
 * - `high`: a person waits for the answer, for example in a chat.
 * - `normal`: a person asked for it and does something else meanwhile.
 * - `low`: nobody waits, for example scheduled work.
 * - `background`: work that may take a day.
 */
export type TaskPriority = (typeof taskPriorities)[number];

export { taskPriorities };

/** Returns the level of a priority: a smaller number goes first. */
export function levelOf(priority: TaskPriority): number {
  return taskPriorities.indexOf(priority);
}

/** Returns the priority of a level; `high` for a level that does not exist. */
export function priorityOf(level: number): TaskPriority {
  return taskPriorities[level] ?? 'high';
}
