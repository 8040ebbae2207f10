export { type TaskPriority, taskPriorities } from './priority.ts';
export type { TaskInfo, TaskSource, TaskState } from './task-info.ts';
