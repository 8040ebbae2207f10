export {
  type Bottleneck,
  capacityOf,
  type Deployment,
  type DeploymentCapacity,
  type RunCost,
} from './capacity.ts';
export { type TaskPriority, taskPriorities } from './priority.ts';
export {
  burstOfArrivals,
  poissonArrivals,
  type RandomLoad,
  type SimulatedTask,
} from './simulation/arrivals.ts';
export type { QueueReport, WaitReport } from './simulation/queue-report.ts';
export {
  type QueueUnderTest,
  type SimulateQueueOptions,
  simulateQueue,
} from './simulation/simulate-queue.ts';
export {
  endedTaskStates,
  openTaskStates,
  type TaskInfo,
  type TaskSource,
  type TaskState,
  taskStates,
} from './task-info.ts';
export { type TaskCommands, type TaskToolsOptions, taskTools } from './tools/task-tools.ts';
export { english } from './words/english/english.ts';
export type { JobCommand, JobTarget, TargetedKind } from './words/job-command.ts';
export type {
  CommandPhrases,
  Courtesy,
  JobLanguage,
  SubmissionPhrases,
  TargetPhrases,
} from './words/job-language.ts';
export { type ParseJobCommandOptions, parseJobCommand } from './words/parse-job-command.ts';
export { type BackPressure, backPressure } from './words/renderings/back-pressure.ts';
export { type CompletionWording, completedInWords } from './words/renderings/completed-in-words.ts';
export { type QueueDepth, queueInWords } from './words/renderings/queue-in-words.ts';
export { taskInWords } from './words/renderings/task-in-words.ts';
export type { TaskWording } from './words/renderings/task-wording.ts';
export { tasksInWords } from './words/renderings/tasks-in-words.ts';
export {
  type ResolvedTarget,
  type ResolveTargetOptions,
  resolveTarget,
} from './words/resolve-target.ts';
