import type { TaskInfo, TaskPriority, TaskState } from 'adjutant/scheduler';

export interface TaskFilter {
  /** States of the tasks. @default those that have not ended */
  readonly states?: readonly TaskState[];
  readonly requester?: string;
  readonly limit: number;
}

/** A task that is submitted to an agent. */
export interface TaskOrder {
  readonly agent: string;
  readonly input: string;
  readonly name?: string;
  readonly priority?: TaskPriority;
  readonly requester?: string;
  readonly session?: string;
  readonly queue?: string;
  readonly delayMs?: number;
  readonly key?: string;
}

export interface SubmittedTask {
  readonly task: TaskInfo;
  /** True when a task that was there stands for this one too. */
  readonly joined: boolean;
}

export interface ExplainedTask {
  readonly task: TaskInfo;
  /** Number of tasks that begin before it. */
  readonly before?: number | undefined;
  /** Reason why it does not run, or about when it will, in a sentence. */
  readonly text: string;
}

/** A command about a task. */
export type TaskCommand =
  | { readonly kind: 'cancel' | 'suspend' | 'resume' | 'move_to_front' | 'retry' }
  | { readonly kind: 'reprioritize'; readonly priority: TaskPriority };

/** The tasks of the app that a command works with. */
export interface TaskAccess {
  list(filter: TaskFilter): Promise<readonly TaskInfo[]>;
  explain(id: string): Promise<ExplainedTask>;
  submit(order: TaskOrder): Promise<SubmittedTask>;
  /** Stores a command, and returns the task as it is then. */
  control(id: string, command: TaskCommand, reason: string | undefined): Promise<TaskInfo>;
  /** Takes an ended task out of the list. */
  discard(id: string): Promise<void>;
}
