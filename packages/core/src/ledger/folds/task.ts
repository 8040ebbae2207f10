import { defined } from '../../base/defined.ts';
import type { ErrorRecord } from '../../base/error.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { decision, isDecision } from '../decisions/decision.ts';
import type { DataOf } from '../decisions/decision-map.ts';
import type { TaskData } from '../decisions/runtime-decisions.ts';
import type { Event, EventDraft, InvocationStatus } from '../event.ts';
import { belongsTo } from '../path.ts';
import { serviceTurn } from '../port/service-sessions.ts';
import type { ListedRow, Send } from '../port.ts';

export type { TaskData } from '../decisions/runtime-decisions.ts';

/** Kind of the rows by which tasks are listed. */
export const taskKind = 'task';

/** Milliseconds for which an ended task is listed. */
const keptMs = 86_400_000;

/** Status of a task's row. The turn of its session tells more of an open one. */
export type TaskStatus = 'open' | 'completed' | 'failed' | 'cancelled' | 'timeout';

/** Status of a task whose run has ended. */
export function endedStatus(status: InvocationStatus, hasPassedDeadline: boolean): TaskStatus {
  if (status === 'completed') return 'completed';
  if (hasPassedDeadline) return 'timeout';
  return status === 'cancelled' ? 'cancelled' : 'failed';
}

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

/** The user on whose behalf an invocation works: the requester of its task, else 'system'. */
export function requesterOf(events: readonly Event[], invocationId: string): string {
  const [run = invocationId] = invocationId.split(/[/#~>]/, 1);
  return taskOfRun(events, run)?.requester ?? 'system';
}

/**
 * The task of a run, as its ledger says; `undefined` for a run that was not submitted, and in a
 * fork, which is no task of anybody.
 */
export function taskOfRun(events: readonly Event[], runId: string): TaskData | undefined {
  const place = events.findIndex(
    (one) => isDecision(one, 'scheduler', 'enqueue') && one.data?.id === runId,
  );
  const event = events[place];
  if (!isDecision(event, 'scheduler', 'enqueue')) return undefined;
  return events.some((one, i) => i > place && isDecision(one, 'fork')) ? undefined : event.data;
}

/** A task with the listeners of those that have joined it, besides its own. */
export function withJoined(task: TaskData, events: readonly Event[]): TaskData {
  const joined = events.flatMap((event) =>
    isDecision(event, 'scheduler', 'coalesce') && event.invocationId === task.id
      ? (event.data?.onEnd ?? [])
      : [],
  );
  return joined.length === 0 ? task : { ...task, onEnd: [...(task.onEnd ?? []), ...joined] };
}

/** The messages that tell the sessions that asked for it of the final end of a task. */
export function endSends(
  { id, name, onEnd = [] }: TaskData,
  end: {
    readonly session: string;
    /** `deleted`: its session was deleted before it had ended. */
    readonly status: TaskStatus | 'deleted';
    readonly attempts: number;
    readonly error?: ErrorRecord | undefined;
    readonly at: number;
  },
): readonly Send[] {
  const { at, attempts, error, session, status } = end;
  return onEnd.map(({ data, name: service, runnable, session: to }) => ({
    to,
    open: true,
    turn: serviceTurn(runnable, service),
    item: {
      key: `end:${id}:${attempts}`,
      lane: 'input',
      by: 'runtime',
      at,
      type: 'child_end',
      data: {
        ...data,
        ...{ task: id, name, session, status },
        ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
      },
    },
  }));
}

/** Number of executions of a task that its ledger has, the present one included. */
export function executionsOf(events: readonly Event[], runId: string): number {
  const goesOn = (event: Event): boolean =>
    isHardDeadline(event, runId) && event.data?.attempt !== undefined;
  return 1 + events.filter((event) => isRetryOf(event, runId) || goesOn(event)).length;
}

type HardDeadline = Extract<Event, { readonly type: 'decision' }> & {
  readonly data?: DataOf<'scheduler', 'hard_deadline'>;
};

function isHardDeadline(event: Event | undefined, runId: string): event is HardDeadline {
  return isDecision(event, 'scheduler', 'hard_deadline') && event.invocationId === runId;
}

/** Number of hard deadlines that a task has passed. */
export function deadlinesOf(events: readonly Event[], runId: string): number {
  return events.filter((event) => isHardDeadline(event, runId)).length;
}

/** Action of the hard deadline that ends the present execution; `undefined` when none does. */
export function endingAction(events: readonly Event[], runId: string): string | undefined {
  const last = events.findLast(
    (event) =>
      isHardDeadline(event, runId) ||
      (event.type === 'invocation_reopen' && event.invocationId === runId),
  );
  return isHardDeadline(last, runId) && last.data?.attempt === undefined
    ? (last.data?.action ?? 'discard')
    : undefined;
}

/** Result of a task that its hard deadline has ended. */
export function resultAtDeadline(
  events: readonly Event[],
  { deadline, id }: TaskData,
): string | undefined {
  switch (endingAction(events, id)) {
    case 'fallback':
      return deadline?.fallback;
    case 'partial':
      return lastText(events, id);
    default:
      return undefined;
  }
}

/** The last text that a model of a run has given. */
function lastText(events: readonly Event[], runId: string): string | undefined {
  const last = events.findLast(
    (event) =>
      event.type === 'assistant' && belongsTo(event.invocationId, runId) && event.text !== '',
  );
  return last?.type === 'assistant' ? last.text : undefined;
}

function isRetryOf(event: Event, runId: string): boolean {
  return isDecision(event, 'scheduler', 'retry') && event.invocationId === runId;
}

/** True when the last thing that happened to an ended run is that it is to be executed again. */
export function isToBeRetried(events: readonly Event[], runId: string): boolean {
  const last = events.findLast(
    (event) =>
      isRetryOf(event, runId) ||
      (event.invocationId === runId &&
        (event.type === 'invocation_reopen' || event.type === 'invocation_end')),
  );
  return last?.type === 'decision';
}

/** The next execution of a task that has failed; `undefined` when there is none. */
export interface NextExecution {
  readonly attempt: number;
  readonly notBefore: number;
  /** Level of its turn, if it changes. */
  readonly level?: number;
}

const backgroundLevel = 4;

/** Decides on another execution of a task that has failed. */
export function nextExecution(
  task: TaskData,
  executions: number,
  now: number,
): NextExecution | undefined {
  const { requeue, retry, submittedAt } = task;
  const attempt = executions + 1;
  if (retry !== undefined && executions < retry.attempts) {
    const { initialDelayMs, maxDelayMs = Number.POSITIVE_INFINITY, multiplier } = retry;
    const delay = Math.min(initialDelayMs * multiplier ** (executions - 1), maxDelayMs);
    return { attempt, notBefore: now + delay };
  }
  if (requeue === undefined) return undefined;
  const notBefore = now + requeue.afterMs;
  return notBefore - submittedAt < requeue.untilMs
    ? { attempt, notBefore, level: backgroundLevel }
    : undefined;
}

/** The record that a task is executed again. */
export function retryDraft(
  runId: string,
  { attempt, level, notBefore }: NextExecution,
  reasoning: string,
): EventDraft {
  return decision('scheduler', 'retry', {
    invocationId: runId,
    reasoning,
    data: { attempt, notBefore, ...(level === undefined ? {} : { priority: 'background' }) },
  });
}

/** The record that a task begins, which goes before the start of its run. */
export function taskDraft(task: TaskData): EventDraft {
  const { began, name, priority } = task;
  const reasoning =
    began === undefined
      ? `The task "${name}" was submitted with priority ${priority}.`
      : `Firing ${began.firing} of the trigger "${began.trigger}": ${began.why}.`;
  return decision('scheduler', 'enqueue', { reasoning, data: task });
}

/** The task in the data of an inbox item; `undefined` for an item that is none. */
export function taskInItem(data: JsonObject): TaskData | undefined {
  const task = data['task'];
  return typeof task === 'object' && task !== null && !Array.isArray(task)
    ? (task as unknown as TaskData)
    : undefined;
}
