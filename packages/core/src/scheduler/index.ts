export { type TaskPriority, taskPriorities } from './priority.ts';
export type { TaskInfo, TaskSource, TaskState } from './task-info.ts';
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
export {
  type ResolvedTarget,
  type ResolveTargetOptions,
  resolveTarget,
} from './words/resolve-target.ts';
