export {
  levelOf,
  priorityOf,
  type TaskPriority,
  taskPriorities,
} from '../engine/tasks/priority.ts';
