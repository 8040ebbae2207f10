export {
  endedTaskStates,
  openTaskStates,
  type TaskInfo,
  type TaskSource,
  type TaskState,
  taskStates,
} from '../engine/tasks/task-info.ts';
