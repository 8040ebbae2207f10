import { defined } from '../../base/defined.ts';
import type { JsonValue } from '../../base/json.ts';
import type { TaskData, TaskStatus } from '../../ledger/folds/task.ts';
import type { StoredRow, TurnRow } from '../../ledger/port.ts';
import { priorityOf, type TaskPriority } from './priority.ts';
import type { TaskInfo, TaskState } from './task-info.ts';

/** The body of a task's row. */
interface TaskBody {
  readonly task: TaskData;
  readonly runnable: string;
  readonly startedAt?: number;
  readonly completedAt?: number;
  readonly rounds?: number;
  readonly attempts?: number;
  readonly maxRounds?: number;
  readonly result?: JsonValue;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A task as it is listed, from its row and the turn of its session. */
export function taskInfo(row: StoredRow, turn: TurnRow | undefined, tenant: string): TaskInfo {
  const body = row.body as unknown as TaskBody;
  const { task, startedAt, completedAt, error, maxRounds, result } = body;
  const own = turn?.run === undefined || turn.run === row.id ? turn : undefined;
  const { description, source } = task;
  return {
    id: row.id,
    session: row.session,
    tenant,
    name: task.name,
    runnable: body.runnable,
    priority: own === undefined ? (task.priority as TaskPriority) : priorityOf(own.level),
    state: stateOf(row.status as TaskStatus, startedAt, own),
    queue: own?.queue ?? task.queue,
    requester: task.requester,
    submittedAt: task.submittedAt,
    attempts: Math.max(own?.attempts ?? 1, body.attempts ?? 1),
    roundsCompleted: body.rounds ?? 0,
    ...defined({ description, source, startedAt, completedAt, maxRounds, result, error }),
    ...defined({
      softDeadlineAt: own?.softAt,
      hardDeadlineAt: own?.hardAt,
      notBefore: startedAt === undefined ? (own?.readyAt ?? undefined) : undefined,
    }),
  };
}

function stateOf(
  status: TaskStatus,
  startedAt: number | undefined,
  turn: TurnRow | undefined,
): TaskState {
  if (status !== 'open') return status;
  if (turn === undefined) return startedAt === undefined ? 'queued' : 'waiting';
  if (turn.state === 'taken') return 'running';
  if (turn.suspended) return 'suspended';
  return turn.state === 'resting' && startedAt !== undefined ? 'waiting' : 'queued';
}

const ageMs = 300_000;

/** Priority with its age: each 300 seconds of waiting count as one level. */
export function effectiveLevel(level: number, since: number, now: number): number {
  return level === 0 ? 0 : Math.max(1, level - Math.max(0, now - since) / ageMs);
}
