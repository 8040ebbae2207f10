import { defined } from '../../base/defined.ts';
import { isDecision } from '../decisions/decision.ts';
import type { Event } from '../event.ts';
import type { InboxEntry, TurnPatch } from '../port.ts';
import { type TaskData, taskInItem } from './task.ts';
import { levelOfPriority } from './task-level.ts';

/** A task that was posted to a session and has not begun. */
export interface WaitingTask {
  readonly task: TaskData;
  readonly runnable: string;
}

/** The tasks among posted inputs, in the order of posting. */
export function waitingTasks(entries: Iterable<InboxEntry>): readonly WaitingTask[] {
  return [...entries]
    .sort((left, right) => left.position - right.position)
    .flatMap(({ data }) => {
      const task = taskInItem(data);
      const { runnable } = data;
      return task === undefined || typeof runnable !== 'string' ? [] : [{ task, runnable }];
    });
}

/**
 * The turn of a session whose tasks wait: that of the first one, at the best level among them. Its
 * deadlines are what is left of them.
 */
export function turnOfWaiting(
  waiting: readonly WaitingTask[],
  events: readonly Event[],
  now: number,
): TurnPatch | undefined {
  const [first] = waiting;
  if (first === undefined) return undefined;
  const { estimateMs, hardMs, id, key, notBefore: at, queue, rate, requester } = first.task;
  const left = (ms: number | undefined): number | undefined =>
    ms === undefined ? undefined : Math.max(1, first.task.submittedAt + ms - now);
  return {
    queue,
    level: Math.min(...waiting.map(({ task }) => levelIn(events, task))),
    requester,
    runnable: first.runnable,
    run: id,
    to: 'ready',
    ...defined({ at, estimateMs, key, rate }),
    ...defined({ softMs: left(first.task.softMs), hardMs: left(hardMs) }),
  };
}

/** Level of a task, as people may have changed it since. */
function levelIn(events: readonly Event[], { id, priority }: TaskData): number {
  const changed = events.findLast(
    (event) => isDecision(event, 'scheduler', 'reprioritize') && event.invocationId === id,
  );
  const changedTo = isDecision(changed, 'scheduler', 'reprioritize')
    ? changed.data?.priority
    : undefined;
  return levelOfPriority(changedTo ?? priority);
}

/** A run that is to be executed again as a whole. */
export interface RetriedRun {
  readonly runId: string;
  readonly notBefore: number;
}

/** The first of the runs that are to be executed again; `undefined` when there is none. */
export function nextRetry(events: readonly Event[]): RetriedRun | undefined {
  const known = new Set<string>();
  let next: RetriedRun | undefined;
  for (const event of events.toReversed()) {
    const { invocationId: runId } = event;
    if (runId === undefined || known.has(runId)) continue;
    const isRetry = isDecision(event, 'scheduler', 'retry');
    if (!isRetry && event.type !== 'invocation_end' && event.type !== 'invocation_reopen') continue;
    known.add(runId);
    const notBefore = isRetry ? (event.data?.notBefore ?? 0) : Number.POSITIVE_INFINITY;
    if (notBefore < (next?.notBefore ?? Number.POSITIVE_INFINITY)) next = { runId, notBefore };
  }
  return next;
}
