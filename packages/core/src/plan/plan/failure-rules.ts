import type { ErrorRecord } from '../../base/error.ts';
import type { PlannedSubtask } from '../../ledger/event.ts';
import { isLasting } from './subtask-work.ts';

/** Reason for a new plan. */
export type ReplanReason = 'critical' | 'repeated' | 'consecutive' | 'final';

/** Failures of the subtasks of one revision. */
export class Failures {
  readonly #most: number;
  readonly #counts = new Map<string, number>();
  /** Ids of the subtasks that failed last, without a success in between. */
  #row: string[] = [];

  /** @param most failures of one subtask at which a new plan is made */
  constructor(most: number) {
    this.#most = most;
  }

  /** A subtask has completed. */
  succeeded(): void {
    this.#row = [];
  }

  /**
   * Counts a failure. Returns the reason for a new plan; `undefined`: the subtask is tried again. A
   * critical one, three of the same, two different ones in a row, or one that would come again.
   */
  failed({ id, critical }: PlannedSubtask, error: ErrorRecord): ReplanReason | undefined {
    const count = (this.#counts.get(id) ?? 0) + 1;
    this.#counts.set(id, count);
    const before = this.#row.at(-1);
    this.#row.push(id);
    if (critical === true) return 'critical';
    if (count >= this.#most) return 'repeated';
    if (before !== undefined && before !== id) return 'consecutive';
    return isLasting(error) ? 'final' : undefined;
  }
}

export const reasonText: Readonly<Record<ReplanReason, string>> = {
  critical: 'it is critical',
  repeated: 'it has failed as often as it may',
  consecutive: 'another one failed right before it',
  final: 'another attempt would fail in the same way',
};
