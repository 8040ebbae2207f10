import { AbortReason, CancelScope } from '../../base/cancel-scope.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { Activity } from './activity.ts';
import { inFlightOn } from './in-flight.ts';

/** Children of a run that nothing waits for: they may outlive its root. */
export class DetachedWork {
  /** Scope of the children. */
  readonly scope = new CancelScope();
  /** Root node of their work. */
  readonly activity: Activity;
  /** True when a child is left open for another process to continue. */
  leavesOpen = false;
  readonly #ledger: Ledger;
  readonly #onError: (error: unknown) => void;
  readonly #underWay = new Set<Promise<unknown>>();
  #isReleased = false;
  #wasAny = false;

  /** @param onError called when the work of a child fails, and not the ledger */
  constructor(ledger: Ledger, runId: string, onError: (error: unknown) => void) {
    this.#ledger = ledger;
    this.#onError = onError;
    this.activity = new Activity(runId);
    this.activity.judgeBy(() => 'idle');
  }

  /** Lets `work` go on although nothing in the run waits for it. */
  add(path: string, work: Promise<unknown>): void {
    const { detached, onDetachedReleased } = inFlightOn(this.#ledger);
    detached.add(path);
    this.#wasAny = true;
    const tracked = work
      .catch((error: unknown) => {
        if (this.#ledger.failure === undefined) this.#onError(error);
      })
      .finally(() => {
        detached.delete(path);
        this.#underWay.delete(tracked);
        if (this.#isReleased) for (const tell of [...onDetachedReleased]) tell();
      });
    this.#underWay.add(tracked);
  }

  /** Resolves when no child is under way any more. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  get isUnderWay(): boolean {
    return this.#underWay.size > 0;
  }

  /** True when the run has had a detached child. */
  get wasAny(): boolean {
    return this.#wasAny;
  }

  /** True when the children were released because they wait. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Releases the children because everything in them waits. */
  releaseBecauseItWaits(): void {
    this.#isReleased = true;
    this.scope.abort(new AbortReason('waiting', 'It waits for somebody outside.'));
  }

  /**
   * True when detached work of the ledger goes on, here or in another process. An earlier run may
   * have dispatched it.
   */
  get goesOn(): boolean {
    return this.isUnderWay || this.leavesOpen || inFlightOn(this.#ledger).detached.size > 0;
  }
}
