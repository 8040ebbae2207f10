import { defined } from '../../base/defined.ts';
import { contentHash } from '../../base/hash.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { resolveRetry } from '../../base/retry-options.ts';
import type { TaskListener } from '../../ledger/decisions/runtime-decisions.ts';
import { type TaskData, taskRow } from '../../ledger/folds/task.ts';
import { firstSession, notifierKind } from '../../ledger/port/service-sessions.ts';
import type { InboxItem, PostOptions, StoredRow, TurnPatch } from '../../ledger/port.ts';
import type { Runnable } from '../../session/runnable.ts';
import { deadlineData } from './deadline.ts';
import { levelOf } from './priority.ts';
import type { WorkDefaults } from './profile.ts';
import { priorityFor, type SubmitOptions } from './submit-options.ts';

/** A task with all that is posted of it. */
export interface Submission {
  readonly id: string;
  readonly session: string;
  readonly item: InboxItem;
  readonly options: PostOptions;
}

export interface SubmissionParts {
  readonly app: string;
  readonly tenant: string;
  /** Now, by the store's clock as this process knows it. */
  readonly now: number;
  /** Name of the submission, when the caller gave none. */
  readonly freshKey: string;
  readonly work: WorkDefaults;
  /** Facts of a task that only the app itself gives. */
  readonly more?: Pick<TaskData, 'began' | 'cause' | 'onEnd'> | undefined;
}

/** Returns the id of a task, which follows from its submission. */
export function taskId(of: {
  readonly app: string;
  readonly tenant: string;
  readonly requester: string;
  readonly key: string;
  readonly session: string | undefined;
}): string {
  const { app, key, requester, session, tenant } = of;
  const named = [app, tenant, requester, key, ...(session === undefined ? [] : [session])];
  return contentHash(named).slice(0, 12);
}

/** Makes the post of a task. */
export function submissionOf(
  runnable: Runnable,
  input: string | undefined,
  options: SubmitOptions,
  parts: SubmissionParts,
): Submission {
  const { requester = 'system', session } = options;
  const key = options.key ?? parts.freshKey;
  const id = taskId({ ...parts, requester, key, session });
  const task = taskData(id, runnable, input, options, parts);
  const { data, model, maxRounds } = options;
  return {
    id,
    session: session ?? `task-${id}`,
    item: {
      key: `task:${id}`,
      lane: 'input',
      by: requester === 'system' ? 'runtime' : `user:${requester}`,
      at: parts.now,
      type: 'user',
      data: {
        ...defined({ text: input, data, model, maxRounds }),
        runId: id,
        runnable: runnable.name,
        task: task as unknown as JsonObject,
      },
    },
    options: {
      open: true,
      turn: taskTurn(task, runnable.name),
      ...defined({ admit: parts.work.admission }),
      rows: [taskRow('open', { task, runnable: runnable.name })],
    },
  };
}

function taskData(
  id: string,
  runnable: Runnable,
  input: string | undefined,
  options: SubmitOptions,
  parts: SubmissionParts,
): TaskData {
  const { more, now, work } = parts;
  const { description, source, requester = 'system', queue = 'default' } = options;
  const priority = priorityFor(options);
  const onEnd = [...(more?.onEnd ?? []), ...listenersOf(options)];
  return {
    id,
    name: options.name ?? runnable.name,
    priority,
    queue,
    requester,
    submittedAt: now,
    ...defined({ description, source, requeue: work.requeue }),
    ...deadlineData(options.deadline ?? work.deadlines[priority] ?? {}),
    ...more,
    ...(onEnd.length === 0 ? {} : { onEnd }),
    ...(options.retry === undefined ? {} : { retry: retryOf(options.retry) }),
    ...placeOf(runnable, input, options, parts),
  };
}

/** Settings of the turn that only the store would know otherwise. */
function placeOf(
  runnable: Runnable,
  input: string | undefined,
  options: SubmitOptions,
  { now, tenant }: SubmissionParts,
): Pick<TaskData, 'notBefore' | 'key' | 'rate' | 'coalesceKey' | 'estimateMs'> {
  const { concurrencyKey, data, delayMs, estimateMs, name, notBefore, queue, rate } = options;
  const given =
    typeof concurrencyKey === 'string' ? { name: concurrencyKey, limit: 1 } : concurrencyKey;
  const asked = [runnable.name, queue ?? 'default', name ?? runnable.name];
  const coalesceKey =
    options.coalesceKey === true
      ? contentHash([...asked, input ?? null, data ?? null])
      : options.coalesceKey;
  const at = notBefore === undefined ? undefined : Number(notBefore);
  return defined({
    notBefore: delayMs === undefined ? at : now + delayMs,
    key: given && { ...given, name: keyOfTenant(tenant, given.name) },
    rate: rate && { ...rate, name: keyOfTenant(tenant, rate.name) },
    coalesceKey,
    estimateMs,
  });
}

/** The notifier of the user who is told of the end. */
function listenersOf({ onComplete }: SubmitOptions): readonly TaskListener[] {
  if (onComplete === undefined) return [];
  const { channels, user } = onComplete;
  const session = firstSession(notifierKind, user);
  const data = { user, ...(channels === undefined ? {} : { channels: [...channels] }) };
  return [{ session, runnable: notifierKind, name: user, data }];
}

function retryOf(options: NonNullable<SubmitOptions['retry']>): NonNullable<TaskData['retry']> {
  const { attempts, initialDelayMs, maxDelayMs, multiplier } = resolveRetry(options);
  // No limit is no JSON.
  const most = Number.isFinite(maxDelayMs) ? { maxDelayMs } : {};
  return { attempts, initialDelayMs, multiplier, ...most };
}

/** Name of a key in the store: tenants share no keys. */
export function keyOfTenant(tenant: string, name: string): string {
  return `${tenant}/${name}`;
}

/** The turn that a submission makes. */
function taskTurn(task: TaskData, runnable: string): TurnPatch {
  const { coalesceKey, hardMs, notBefore: at, softMs } = task;
  return { ...againTurn(task, runnable), ...defined({ at, coalesceKey, softMs, hardMs }) };
}

/** The turn of an ended task that is executed again: without deadlines, and joined by nobody. */
function againTurn(task: TaskData, runnable: string): TurnPatch {
  const { estimateMs, id, key, priority, queue, rate, requester } = task;
  const level = levelOf(priority as Parameters<typeof levelOf>[0]);
  const settings = { queue, level, requester, runnable, run: id, to: 'ready' } as const;
  return { ...settings, ...defined({ key, rate, estimateMs }) };
}

/**
 * The note that another task stands for a submission too. The store counts it with the post of the
 * submission; the ledger of that task knows it by this.
 */
export function joinPost(
  { id, item, options: { turn = {} } }: Submission,
  { run, session }: { readonly run: string; readonly session: string },
): { readonly session: string; readonly item: Omit<InboxItem, 'at'> } {
  const { hardMs, level, softMs } = turn;
  // Its listeners are told of the end of that task.
  const { onEnd } = (item.data['task'] ?? {}) as { readonly onEnd?: JsonValue };
  return {
    session,
    item: {
      key: `join:${id}`,
      lane: 'input',
      by: item.by,
      type: 'task_control',
      data: { command: 'join', runId: run, key: id, ...defined({ level, softMs, hardMs, onEnd }) },
    },
  };
}

/** The post that lets an ended task run again, under a key that two operators share. */
export function retryPost(
  row: StoredRow,
  by: InboxItem['by'],
  reason: string | undefined,
): { readonly item: Omit<InboxItem, 'at'>; readonly change: PostOptions } {
  const { completedAt, error: _, result: __, ...body } = row.body;
  const { expiresAt: ___, session: ____, ...listed } = row;
  const task = body['task'] as unknown as TaskData;
  const runnable = typeof body['runnable'] === 'string' ? body['runnable'] : '';
  return {
    item: {
      key: `retry:${row.id}:${completedAt}`,
      lane: 'input',
      by,
      type: 'task_control',
      data: { command: 'retry', runId: row.id, ...defined({ reason }) },
    },
    change: {
      turn: againTurn(task, runnable),
      rows: [{ ...listed, status: 'open', body }],
    },
  };
}
