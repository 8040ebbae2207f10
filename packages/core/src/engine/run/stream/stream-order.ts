import type { TransientEvent } from '../../../ledger/event.ts';
import type { Ledger } from '../../../ledger/ledger.ts';

interface Held {
  readonly event: TransientEvent;
  /** Sequence number of the last event before it. */
  readonly after: number;
}

/**
 * The order of a run's stream: a part of an answer, or of what a tool reports, is told behind the
 * durable events that were made before it. Events become durable a moment after they were made.
 */
export class StreamOrder {
  readonly #ledger: Pick<Ledger, 'durable' | 'durableSeq' | 'lastSeq'>;
  readonly #tell: (event: TransientEvent) => void;
  #held: Held[] = [];

  constructor(
    ledger: Pick<Ledger, 'durable' | 'durableSeq' | 'lastSeq'>,
    tell: (event: TransientEvent) => void,
  ) {
    this.#ledger = ledger;
    this.#tell = tell;
  }

  /** Tells an event, now or when the events before it are durable. */
  emit(event: TransientEvent): void {
    const after = this.#ledger.lastSeq;
    if (this.#held.length === 0 && after <= this.#ledger.durableSeq) this.#tell(event);
    else {
      // The reader waits for the store now, and not also for events that may still be gathered.
      if (this.#held.length === 0) void this.#ledger.durable()?.catch(ignore);
      this.#held.push({ event, after });
    }
  }

  /** Tells the events that came behind a durable event that has been told, and before the next. */
  landed(seq: number): void {
    if (this.#held.length === 0) return;
    const kept = this.#held.findIndex(({ after }) => after > seq);
    const due = this.#held.splice(0, kept === -1 ? this.#held.length : kept);
    for (const { event } of due) this.#tell(event);
  }
}

/** For the failure of the store: the ledger tells it to the run, which ends with it. */
function ignore(): void {}
