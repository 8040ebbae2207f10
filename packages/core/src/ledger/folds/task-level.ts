/** Priorities of tasks, from the first to the last; the place of each is its level in the store. */
export const taskPriorities = ['realtime', 'high', 'normal', 'low', 'background'] as const;

/** Level of a turn without a priority of its own. */
const defaultLevel = 1;

/** Returns the level of a priority: a smaller number goes first. */
export function levelOfPriority(priority: string): number {
  const level = (taskPriorities as readonly string[]).indexOf(priority);
  return level < 0 ? defaultLevel : level;
}
