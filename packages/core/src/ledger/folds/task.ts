import { defined } from '../../base/defined.ts';
import type { ErrorRecord } from '../../base/error.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { decision, isDecision } from '../decisions/decision.ts';
import type { TaskData } from '../decisions/runtime-decisions.ts';
import type { Event, EventDraft } from '../event.ts';
import type { ListedRow } from '../port.ts';

export type { TaskData } from '../decisions/runtime-decisions.ts';

/** Kind of the rows by which tasks are listed. */
export const taskKind = 'task';

/** Milliseconds for which an ended task is listed. */
const keptMs = 86_400_000;

/** Status of a task's row. The turn of its session tells more of an open one. */
export type TaskStatus = 'open' | 'completed' | 'failed' | 'cancelled' | 'timeout';

/** Facts of a task that its row has besides its status. */
export interface TaskFacts {
  readonly task: TaskData;
  readonly runnable: string;
  readonly startedAt?: number | undefined;
  readonly completedAt?: number | undefined;
  readonly rounds?: number | undefined;
  readonly attempts?: number | undefined;
  readonly result?: JsonValue | undefined;
  readonly error?: ErrorRecord | undefined;
}

/** The row of a task. */
export function taskRow(status: TaskStatus, facts: TaskFacts): ListedRow {
  const { task, completedAt, error, ...rest } = facts;
  return {
    kind: taskKind,
    id: task.id,
    status,
    at: task.submittedAt,
    user: task.requester,
    ...(completedAt === undefined ? {} : { expiresAt: completedAt + keptMs }),
    body: {
      task: task as unknown as JsonObject,
      ...defined({ ...rest, completedAt }),
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    } as JsonObject,
  };
}

/** The task of a run, as its ledger says; `undefined` for a run that was not submitted. */
export function taskOfRun(events: readonly Event[], runId: string): TaskData | undefined {
  const event = events.find(
    (one) => isDecision(one, 'scheduler', 'enqueue') && one.data?.id === runId,
  );
  return isDecision(event, 'scheduler', 'enqueue') ? event.data : undefined;
}

/** The record that a task begins, which goes before the start of its run. */
export function taskDraft(task: TaskData): EventDraft {
  return decision('scheduler', 'enqueue', {
    reasoning: `The task "${task.name}" was submitted with priority ${task.priority}.`,
    data: task,
  });
}

/** The task in the data of an inbox item; `undefined` for an item that is none. */
export function taskInItem(data: JsonObject): TaskData | undefined {
  const task = data['task'];
  return typeof task === 'object' && task !== null && !Array.isArray(task)
    ? (task as unknown as TaskData)
    : undefined;
}
