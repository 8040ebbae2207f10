import { AbortReason } from '../../base/cancel-scope.ts';
import type { Clock } from '../../base/clock.ts';
import { decision } from '../../ledger/decisions/decision.ts';
import { taskOfRun } from '../../ledger/folds/task.ts';
import type { Taken } from '../../ledger/port.ts';
import type { RunContext, TurnOfRun } from '../frame/run-context.ts';

/** Parts of a worker that its turns use. */
export interface WorkerTurnParts {
  readonly clock: Clock;
  readonly isGateClosed: (() => boolean | Promise<boolean>) | undefined;
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
  /** Rounds that the run had completed when it was taken. */
  #roundsBefore = 0;

  constructor(taken: Taken, parts: WorkerTurnParts) {
    this.#taken = taken;
    this.#parts = parts;
  }

  begin(run: RunContext): void {
    const { isControl, turn } = this.#taken;
    this.#roundsBefore = run.roundsCompleted;
    const { hardAt } = turn;
    const ms = hardAt === undefined ? undefined : hardAt - this.#parts.clock.now();
    if (hardAt !== undefined && ms !== undefined && ms <= 0) this.#passDeadline(run, hardAt);
    else if (isControl) run.gate.close('round');
    else if (hardAt !== undefined && ms !== undefined)
      run.onEnd(this.#parts.clock.setTimer(ms, () => this.#passDeadline(run, hardAt)));
  }

  #passDeadline(run: RunContext, at: number): void {
    if (run.scope.aborted || run.ledger.failure !== undefined) return;
    const reasoning = 'The hard deadline of the task has passed, and it had not ended.';
    run.ledger.append([
      decision('scheduler', 'hard_deadline', {
        invocationId: run.runId,
        reasoning,
        data: { at, action: 'cancel' },
      }),
    ]);
    run.abort(new AbortReason('cancelled', reasoning));
  }

  async beforeRound(run: RunContext): Promise<void> {
    this.#tellSoftDeadline(run);
    // A run that has made no progress since it was taken would be begun again and again.
    if (run.roundsCompleted === this.#roundsBefore) return;
    if (await this.#isGateClosed()) return run.gate.close('round');
    const { level } = this.#taken.turn;
    const above = await this.#parts.takeAbove(levelsBefore[level] ?? []).catch(() => []);
    const [first] = above;
    if (first === undefined) return;
    if (taskOfRun(run.ledger.events, run.runId) !== undefined)
      run.ledger.append([
        decision('scheduler', 'preempt', {
          invocationId: run.runId,
          reasoning: 'A task of a higher priority has come; this one goes on after it.',
          data: { level, by: first.turn.run ?? first.session },
        }),
      ]);
    run.gate.close('round');
    this.#parts.begin(above);
  }

  async #isGateClosed(): Promise<boolean> {
    if (this.#taken.turn.level === 0) return false;
    try {
      return (await this.#parts.isGateClosed?.()) ?? false;
    } catch {
      return false;
    }
  }

  /** Tells the model once that its time is nearly over. */
  #tellSoftDeadline(run: RunContext): void {
    const { softAt } = this.#taken.turn;
    if (softAt === undefined || this.#parts.clock.now() < softAt) return;
    const isTold = run.ledger.events.some(
      (event) =>
        event.type === 'decision' &&
        event.component === 'scheduler' &&
        event.decision === 'soft_deadline' &&
        event.invocationId === run.runId,
    );
    if (isTold) return;
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
