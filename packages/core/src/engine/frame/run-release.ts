import { AbortReason } from '../../base/cancel-scope.ts';
import type { Activity, WaitReason } from './activity.ts';
import type { Gate } from './gate.ts';

/** Waiting parts of a run, and the reason of a closed gate. */
export interface RunWait {
  readonly leaves: readonly { readonly path: string; readonly reason: WaitReason }[];
  /** Set when the run or one of them is paused. */
  readonly pausedFor: string | undefined;
}

/** Parts of a run that its release needs. */
interface ReleasedRun {
  readonly activity: Activity;
  readonly gate: Gate;
  /** Stops the root of the run. */
  readonly abortRoot: (reason: AbortReason) => void;
  /** Stops everything, detached work as well. */
  readonly abort: (reason: AbortReason) => void;
}

/** Release of a run by this process, and its reason. */
export class RunRelease {
  readonly #run: ReleasedRun;
  #wait: RunWait | undefined;
  #error: Error | undefined;

  constructor(run: ReleasedRun) {
    this.#run = run;
  }

  /** Waiting parts of the run, when it was released because everything in it waits. */
  get wait(): RunWait | undefined {
    return this.#wait;
  }

  /** Error for which the run was released. */
  get error(): Error | undefined {
    return this.#error;
  }

  /** Releases the root of the run because everything in it waits. */
  becauseItWaits(): void {
    const { activity, gate, abortRoot } = this.#run;
    const leaves = [...activity.waiting()];
    // A run that people have paused stays paused, also when all of it waits for something else.
    const isPaused = gate.closedFor === 'pause' || leaves.some(({ reason }) => reason === 'pause');
    this.#wait = { leaves, pausedFor: isPaused ? gate.closedFor : undefined };
    abortRoot(new AbortReason('waiting', 'The run waits for somebody outside.'));
  }

  /**
   * Releases the run for a failure that says nothing about it, such as that of a store. The run
   * rejects with the error and can be resumed.
   */
  becauseOf(error: Error): void {
    this.#error ??= error;
    this.#run.abort(new AbortReason('stopped', error.message));
  }
}
