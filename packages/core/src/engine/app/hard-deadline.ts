import { AbortReason } from '../../base/cancel-scope.ts';
import type { Clock } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import { deadlinesOf, executionsOf, type TaskData, taskRow } from '../../ledger/folds/task.ts';
import { belongsTo } from '../../ledger/path.ts';
import type { ListedRow } from '../../ledger/port.ts';
import type { RunContext } from '../frame/run-context.ts';
import { levelOf } from '../tasks/priority.ts';

/** Milliseconds in which cut answers are recorded, before the run ends without them. */
const graceMs = 1_000;

interface PassedDeadline {
  readonly at: number;
  readonly clock: Clock;
  readonly task: TaskData | undefined;
}

/** Does what the task of a run wants at its hard deadline, and records it. */
export function passHardDeadline(run: RunContext, passed: PassedDeadline): void {
  if (run.scope.aborted || run.ledger.failure !== undefined) return;
  const { action = 'discard', attempts = 1 } = passed.task?.deadline ?? {};
  const isRetried = action === 'retry' || action === 'retry_when_idle';
  if (!isRetried) endAt(run, passed, action);
  else if (deadlinesOf(run.ledger.events, run.runId) + 1 < attempts) goOnLater(run, passed);
  else endAt(run, passed, 'partial');
}

function endAt(run: RunContext, { at, clock }: PassedDeadline, action: string): void {
  const { ledger, runId } = run;
  const reasoning = 'The hard deadline of the task has passed, and it had not ended.';
  ledger.append([
    decision('scheduler', 'hard_deadline', {
      invocationId: runId,
      reasoning,
      data: { at, action },
    }),
    // Another process that continues the run only ends it, and a replay ends it here.
    { type: 'cancel', by: 'runtime', invocationId: runId, reason: reasoning },
  ]);
  const end = (): void => run.abort(new AbortReason('cancelled', reasoning));
  if (action === 'partial') afterCuts(run, clock, end);
  else end();
}

/** Cuts off the model calls under way, and ends the run when the texts so far are recorded. */
function afterCuts(run: RunContext, clock: Clock, end: () => void): void {
  let open = run.interruptions.size;
  if (open === 0) {
    end();
    return;
  }
  const forget = run.ledger.onDraft((event) => {
    if (event.type !== 'model_end' || !belongsTo(event.invocationId, run.runId)) return;
    open -= 1;
    if (open === 0) end();
  });
  run.onEnd(forget);
  run.onEnd(clock.setTimer(graceMs, end));
  run.interrupt();
}

/**
 * Stops the run where it is: its ledger is the checkpoint. The decision and its place in the queue
 * are one append.
 */
function goOnLater(run: RunContext, { at, clock, task }: PassedDeadline): void {
  const { ledger, runId } = run;
  const { action = 'retry', retryAfterMs = 0 } = task?.deadline ?? {};
  const isWhenIdle = action === 'retry_when_idle';
  const notBefore = clock.now() + retryAfterMs;
  const attempt = executionsOf(ledger.events, runId) + 1;
  const reasoning = isWhenIdle
    ? 'The hard deadline of the task has passed: it goes on when nothing else waits.'
    : 'The hard deadline of the task has passed: it gives its place to others and goes on later.';
  ledger.append(
    [
      decision('scheduler', 'hard_deadline', {
        invocationId: runId,
        reasoning,
        data: { at, action, attempt, notBefore },
      }),
    ],
    {
      wakeAt: notBefore,
      ...defined({ rows: openRow(run, task, attempt) }),
      turn: {
        to: 'ready',
        at: notBefore,
        attempts: attempt,
        ...(isWhenIdle ? { level: levelOf('background') } : {}),
        ...defined({ softMs: task?.softMs, hardMs: task?.hardMs }),
      },
    },
  );
  run.abort(new AbortReason('stopped', reasoning));
}

/** The row of a task that has begun, with what it has done so far. */
function openRow(
  run: RunContext,
  task: TaskData | undefined,
  attempts: number,
): readonly ListedRow[] | undefined {
  const root = run.ledger.invocations.byPath.get(run.runId);
  if (root === undefined || task === undefined) return undefined;
  const rounds = run.roundsCompleted;
  const facts = { task, runnable: root.name, startedAt: root.start.at, rounds, attempts };
  return [taskRow('open', facts)];
}
