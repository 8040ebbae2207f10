import type { Clock } from '../../base/clock.ts';
import { decision, isDecision } from '../../ledger/decisions/decision.ts';
import type { Event } from '../../ledger/event.ts';
import { type TaskData, taskOfRun } from '../../ledger/folds/task.ts';
import { levelOfPriority } from '../../ledger/folds/task-level.ts';
import type { Taken } from '../../ledger/port.ts';
import type { RunContext, TurnOfRun } from '../frame/run-context.ts';
import { passHardDeadline } from './hard-deadline.ts';

/** Parts of a worker that its turns use. */
export interface WorkerTurnParts {
  readonly clock: Clock;
  /** True while nothing new may begin; it never fails. */
  readonly isGateClosed: () => Promise<boolean>;
  /** Takes a turn of one of these levels, if one waits. */
  readonly takeAbove: (levels: readonly number[]) => Promise<readonly Taken[]>;
  /** Begins to work on turns that were taken. */
  readonly begin: (taken: readonly Taken[]) => void;
}

/**
 * Levels before which a task of each level gives its place up, by its own priority and not by its
 * age: realtime before all; high before normal, low and background; background before everything.
 */
export const levelsBefore: readonly (readonly number[])[] = [[], [0], [0, 1], [0, 1], [0, 1, 2, 3]];

const tellSoft =
  'TIME LIMIT: Produce your best answer NOW with what you have. Do not start new tool calls. ' +
  'Summarize your findings.';

/** One turn of a worker: between two rounds it gives its place to what is more urgent. */
export class WorkerTurn implements TurnOfRun {
  readonly #taken: Taken;
  readonly #parts: WorkerTurnParts;
  /** Number of events that the ledger had when the run was taken. */
  #eventsBefore = 0;

  constructor(taken: Taken, parts: WorkerTurnParts) {
    this.#taken = taken;
    this.#parts = parts;
  }

  begin(run: RunContext, begun: TaskData | undefined): void {
    const { isControl, turn } = this.#taken;
    const { clock } = this.#parts;
    this.#eventsBefore = run.ledger.events.length;
    // A session whose process died before it gave its turn to the next task.
    if (begun !== undefined && turn.run !== begun.id) {
      const { id, queue, requester, priority } = begun;
      const level = levelOfPriority(priority);
      run.ledger.append([], { turn: { run: id, level, queue, requester } });
    }
    const { hardAt } = turn;
    if (isControl && (hardAt === undefined || hardAt > clock.now())) run.gate.close('round');
    if (hardAt === undefined) return;
    const task = begun ?? taskOfRun(run.ledger.events, run.runId);
    const pass = (): void => passHardDeadline(run, { at: hardAt, clock, task });
    if (hardAt <= clock.now()) pass();
    else run.onEnd(clock.setTimer(hardAt - clock.now(), pass));
  }

  async beforeRound(run: RunContext): Promise<void> {
    this.#tellSoftDeadline(run);
    // A run that has made no progress since it was taken would be begun again and again.
    if (!run.ledger.events.slice(this.#eventsBefore).some(isProgress)) return;
    const { level, since } = this.#taken.turn;
    if (level !== 0 && (await this.#parts.isGateClosed())) return run.gate.close('round');
    const above = await this.#parts.takeAbove(levelsBefore[level] ?? []).catch(() => []);
    const [first] = above;
    if (first === undefined) return;
    run.ledger.append([
      decision('scheduler', 'preempt', {
        invocationId: run.runId,
        reasoning: 'Work of a higher priority has come; this run goes on after it.',
        data: { level, by: first.turn.run ?? first.session, since },
      }),
    ]);
    run.gate.close('round');
    this.#parts.begin(above);
  }

  /** Tells the model once that its time is nearly over. */
  #tellSoftDeadline(run: RunContext): void {
    const { softAt } = this.#taken.turn;
    if (softAt === undefined || this.#parts.clock.now() < softAt) return;
    const last = run.ledger.events.findLast(
      (event) =>
        event.type === 'decision' &&
        event.component === 'scheduler' &&
        (event.decision === 'soft_deadline' || event.decision === 'hard_deadline') &&
        event.invocationId === run.runId,
    );
    if (isDecision(last, 'scheduler', 'soft_deadline')) return;
    run.ledger.append([
      decision('scheduler', 'soft_deadline', {
        invocationId: run.runId,
        reasoning: 'The soft deadline of the task has passed.',
        data: { at: softAt },
        tell: tellSoft,
      }),
    ]);
  }
}

/** True for the end of a round, a child or an effect: a run that goes on does not repeat it. */
function isProgress(event: Event): boolean {
  return event.type === 'model_end'
    ? event.status === 'completed'
    : event.type === 'invocation_end' || event.type === 'tool_result';
}
