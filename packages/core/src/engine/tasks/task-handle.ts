import type { JsonValue } from '../../base/json.ts';
import type { TaskInfo, TaskState } from './task-info.ts';

/** End of a task. */
export interface TaskResult {
  readonly id: string;
  readonly session: string;
  readonly status: Extract<TaskState, 'completed' | 'failed' | 'cancelled' | 'timeout'>;
  /** Output of the runnable. */
  readonly output: JsonValue | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** Author and reason of a command about a task. */
export interface TaskControlOptions {
  /** @default 'operator' */
  readonly by?: 'operator' | 'user' | `operator:${string}` | `user:${string}`;
  readonly reason?: string;
}

export interface WaitOptions {
  /** Ends the waiting; the task goes on. */
  readonly signal?: AbortSignal;
}

/** A task that was submitted. */
export interface TaskHandle {
  readonly id: string;
  readonly session: string;
  /** True when another task stands for this one too: `id` is that of the other. */
  readonly joined: boolean;
  /**
   * Waits for the end of the task, in whichever process it runs. Inside a step, a tool or a hook
   * use `ctx.call` instead.
   * @throws WouldDeadlockError inside a body of the app
   */
  wait(options?: WaitOptions): Promise<TaskResult>;
  /** Ends this interest in the task. The last one that ends cancels it. */
  cancel(options?: TaskControlOptions): Promise<void>;
  info(): Promise<TaskInfo>;
}
