import type { RecordedOutcome, ReplayedAttempt } from '../ledger/recording.ts';
import type { Outcome } from './outcomes.ts';

/** A model call or an attempt of the replayed code that waits for its recorded outcome. */
export interface AwaitedOutcome {
  /** The recorded outcome; `undefined`: the record has none, so the call waits until the end. */
  readonly outcome: Outcome | undefined;
  /** Called right before the events of the outcome are in the ledger. */
  readonly landing?: ReplayedAttempt['landing'] | undefined;
  /** True when a result of which nothing was made may come as it is. */
  readonly takesRaw?: boolean | undefined;
}

interface Waiting extends AwaitedOutcome {
  readonly release: (outcome: RecordedOutcome) => void;
}

/** An awaited outcome that the record has, with the function that ends the waiting. */
export type ReleasableOutcome = Waiting & { readonly outcome: Outcome };

/** Calls that wait for their recorded outcome, each until it is the turn of that. */
export class AwaitedOutcomes {
  /** Calls whose outcome is recorded, by the seq of its first event. */
  readonly #byFirstSeq = new Map<number, ReleasableOutcome>();
  readonly #all: Waiting[] = [];
  #isClosed = false;

  /** Checks that a call waits for the outcome that begins with the event `seq`. */
  has(seq: number): boolean {
    return this.#byFirstSeq.has(seq);
  }

  /** Takes the call out that waits for the outcome that begins with the event `seq`. */
  take(seq: number): ReleasableOutcome | undefined {
    const waiting = this.#byFirstSeq.get(seq);
    this.#byFirstSeq.delete(seq);
    return waiting;
  }

  /** Resolves when the outcome is released, or when nothing more is served. */
  wait({ outcome, ...call }: AwaitedOutcome): Promise<RecordedOutcome> {
    const { promise, resolve } = Promise.withResolvers<RecordedOutcome>();
    const waiting: Waiting = { ...call, outcome, release: resolve };
    this.#all.push(waiting);
    const first = outcome?.events[0];
    if (outcome !== undefined && first !== undefined)
      this.#byFirstSeq.set(first.seq, { ...waiting, outcome });
    if (this.#isClosed) resolve({ landed: undefined });
    return promise;
  }

  /** Releases every call without an outcome, now and from now on. */
  close(): void {
    this.#isClosed = true;
    for (const { release } of this.#all) release({ landed: undefined });
  }
}
