import { isDecision } from '../../ledger/decisions/decision.ts';
import { taskInItem, taskKind, taskOfRun } from '../../ledger/folds/task.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type {
  InboxEntry,
  ListedRow,
  RebuiltTurn,
  RequestRow,
  SessionSummary,
} from '../../ledger/port.ts';
import { sessionSummary } from '../../ledger/status.ts';
import { isFreshFork } from '../../session/time-travel-fork.ts';
import { RequestsOfLedger } from './request-fold.ts';
import { TaskFold } from './task-fold.ts';

/** Kinds of listed rows that follow from ledgers; rows of other kinds are left alone. */
export const foldedKinds: readonly string[] = [taskKind];

/** All rows of one session that follow from its ledger and its inbox. */
export interface RebuiltSession {
  /** Missing for a session whose writer has not written one yet. */
  readonly summary: SessionSummary | undefined;
  readonly requests: readonly RequestRow[];
  readonly rows: readonly ListedRow[];
  readonly turn: RebuiltTurn | undefined;
}

/**
 * Folds a ledger, and the changes of items that nobody has drained on top.
 * @param now the store's time
 */
export function foldSession(
  ledger: Ledger,
  inbox: readonly InboxEntry[],
  now: number,
): RebuiltSession {
  const requests = new RequestsOfLedger(ledger);
  const posted = [...inbox].sort((left, right) => left.position - right.position);
  const tasks = [...begunTasks(ledger), ...waitingTasks(ledger, posted)];
  for (const item of posted) {
    requests.post(item);
    for (const task of tasks) task.post(item);
  }
  const turns = tasks
    .toSorted((left, right) => left.order - right.order)
    .flatMap((task) => task.turn() ?? []);
  return {
    summary: summaryOf(ledger),
    requests: requests.rows(),
    rows: tasks.flatMap((task) => task.row(now) ?? []),
    turn: turns[0],
  };
}

/** A fork has the entry of its origin until something is written to it. */
function summaryOf(ledger: Ledger): SessionSummary | undefined {
  const { events } = ledger;
  if (events.length === 0) return { status: 'active' };
  return isFreshFork(events) ? undefined : sessionSummary(ledger);
}

function begunTasks(ledger: Ledger): readonly TaskFold[] {
  const events = ledger.events.map((event) => ledger.whole(event));
  return events.flatMap((event) => {
    if (!isDecision(event, 'scheduler', 'enqueue')) return [];
    const task = taskOfRun(events, event.data?.id ?? '');
    if (task === undefined) return [];
    const fold = new TaskFold(task, '');
    fold.addAll(events);
    return [fold];
  });
}

function waitingTasks(ledger: Ledger, posted: readonly InboxEntry[]): readonly TaskFold[] {
  const lastEnd = ledger.events.findLast(
    ({ invocationId, type }) => type === 'invocation_end' && invocationId?.includes('/') === false,
  )?.at;
  return posted.flatMap(({ data, type }) => {
    const task = type === 'user' ? taskInItem(data) : undefined;
    if (task === undefined || taskOfRun(ledger.events, task.id) !== undefined) return [];
    const runnable = typeof data['runnable'] === 'string' ? data['runnable'] : '';
    const fold = new TaskFold(task, runnable, lastEnd);
    // Commands of operators before its begin may be in the ledger already.
    fold.addAll(ledger.events);
    return [fold];
  });
}
