import { defined } from '../../base/defined.ts';
import { contentHash } from '../../base/hash.ts';
import type { JsonObject } from '../../base/json.ts';
import { resolveRetry } from '../../base/retry-options.ts';
import { type TaskData, taskRow } from '../../ledger/folds/task.ts';
import type { InboxItem, PostOptions, StoredRow, TurnPatch } from '../../ledger/port.ts';
import type { Runnable } from '../../session/runnable.ts';
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
}

/** Makes the post of a task. */
export function submissionOf(
  runnable: Runnable,
  input: string | undefined,
  options: SubmitOptions,
  parts: SubmissionParts,
): Submission {
  const requester = options.requester ?? 'system';
  const key = options.key ?? parts.freshKey;
  const id = contentHash([parts.app, parts.tenant, requester, key]).slice(0, 12);
  const session = `task-${id}`;
  const task = taskData(id, runnable, options, parts);
  const { data, model, maxRounds } = options;
  return {
    id,
    session,
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
      turn: turnOf(id, runnable, input, options, task, parts),
      ...defined({ admit: parts.work.admission }),
      rows: [taskRow('open', { task, runnable: runnable.name })],
    },
  };
}

function taskData(
  id: string,
  runnable: Runnable,
  options: SubmitOptions,
  { now, work }: SubmissionParts,
): TaskData {
  const { description, source, requester = 'system', queue = 'default' } = options;
  const priority = priorityFor(options);
  const { softMs, hardMs } = options.deadline ?? work.deadlines[priority] ?? {};
  return {
    id,
    name: options.name ?? runnable.name,
    priority,
    queue,
    requester,
    submittedAt: now,
    ...defined({ description, source, softMs, hardMs, requeue: work.requeue }),
    ...(options.retry === undefined ? {} : { retry: retryOf(options.retry) }),
  };
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

function turnOf(
  id: string,
  runnable: Runnable,
  input: string | undefined,
  options: SubmitOptions,
  { name, priority, queue, requester, softMs, hardMs }: TaskData,
  { now, tenant }: SubmissionParts,
): TurnPatch {
  const { concurrencyKey, data, delayMs, estimateMs, notBefore, rate } = options;
  const given =
    typeof concurrencyKey === 'string' ? { name: concurrencyKey, limit: 1 } : concurrencyKey;
  const key = given && { ...given, name: keyOfTenant(tenant, given.name) };
  const ofTenant = rate && { ...rate, name: keyOfTenant(tenant, rate.name) };
  const coalesceKey =
    options.coalesceKey === true
      ? contentHash([runnable.name, queue, name, input ?? null, data ?? null])
      : options.coalesceKey;
  const at =
    delayMs === undefined
      ? notBefore === undefined
        ? undefined
        : Number(notBefore)
      : now + delayMs;
  return {
    queue,
    level: levelOf(priority as Parameters<typeof levelOf>[0]),
    requester,
    runnable: runnable.name,
    run: id,
    to: 'ready',
    ...defined({ at, key, rate: ofTenant, coalesceKey, softMs, hardMs, estimateMs }),
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
  const { priority, queue, requester } = task;
  const level = levelOf(priority as Parameters<typeof levelOf>[0]);
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
      turn: { queue, level, requester, runnable, run: row.id, to: 'ready' },
      rows: [{ ...listed, status: 'open', body }],
    },
  };
}
