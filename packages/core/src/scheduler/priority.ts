export { type TaskPriority, taskPriorities } from '../engine/tasks/priority.ts';
