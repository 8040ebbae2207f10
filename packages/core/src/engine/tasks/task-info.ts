import type { JsonValue } from '../../base/json.ts';
import type { TaskPriority } from './priority.ts';

/**
 * State of a task.
 * - `queued`: it waits for its turn.
 * - `running`: a worker works on it.
 * - `waiting`: it waits for a person, an instant or another system, and not for its turn.
 * - `suspended`: an operator has suspended it; it keeps its position in the ledger.
 * - `completed`, `failed`, `cancelled`: its end.
 * - `timeout`: its hard deadline has ended it.
 */
export type TaskState = (typeof taskStates)[number];

/** All states of tasks. */
export const taskStates = [
  'queued',
  'running',
  'waiting',
  'suspended',
  'completed',
  'failed',
  'cancelled',
  'timeout',
] as const;

/** States of tasks that have not ended. */
export const openTaskStates: readonly TaskState[] = taskStates.slice(0, 4);

/** States in which tasks end. */
export const endedTaskStates: readonly TaskState[] = taskStates.slice(4);

/** Cause of a task: a person, a channel or a part of the system. */
export type TaskSource = string;

/** A task as it is listed. All instants are epoch milliseconds by the store's clock. */
export interface TaskInfo {
  /** Id of the task: the id of its run, unique in its app and tenant. */
  readonly id: string;
  readonly session: string;
  readonly tenant: string;
  /** Name for people. @default the name of its runnable */
  readonly name: string;
  readonly description?: string;
  /** Name of the runnable. */
  readonly runnable: string;
  readonly priority: TaskPriority;
  readonly state: TaskState;
  readonly queue: string;
  readonly source?: TaskSource;
  /** Id of the user on whose behalf it runs, or `system`. */
  readonly requester: string;
  readonly submittedAt: number;
  readonly startedAt?: number;
  readonly completedAt?: number;
  /** Instant from which the model is told to come to an end. */
  readonly softDeadlineAt?: number;
  readonly hardDeadlineAt?: number;
  /** Instant before which it does not begin. */
  readonly notBefore?: number;
  /** Executions as a whole, this one included. */
  readonly attempts: number;
  readonly roundsCompleted: number;
  readonly maxRounds?: number;
  readonly result?: JsonValue;
  readonly error?: { readonly code: string; readonly message: string };
}
