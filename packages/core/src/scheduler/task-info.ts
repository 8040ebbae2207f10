export type { TaskInfo, TaskSource, TaskState } from '../engine/tasks/task-info.ts';
