import type { BodyFrame } from '../../engine/frame/run-context.ts';
import { LedgerMismatchError } from '../../ledger/errors.ts';
import type { Event, EventDraft, EventOf } from '../../ledger/event.ts';
import type { InvocationRecord } from '../../ledger/folds/invocation-fold.ts';

/**
 * Events that a plan itself has recorded, in order. A plan that runs again from the top does the
 * same after the same ends: what it decided is read from the record and not decided again.
 */
export class PlanLog {
  readonly #frame: BodyFrame;
  readonly #recorded: readonly Event[];
  #place = 0;
  /** Places at which the plan was reopened after it had failed. */
  readonly #reopened: readonly number[];
  #undone = 0;

  constructor(frame: BodyFrame) {
    this.#frame = frame;
    this.#reopened = frame.record.events.flatMap(({ type, seq }) =>
      type === 'invocation_reopen' ? seq : [],
    );
    this.#recorded = frame.record.events.filter(
      (event) =>
        event.type === 'plan' ||
        event.type === 'plan_update' ||
        (event.type === 'decision' && event.component === 'plan'),
    );
  }

  /** Returns the recorded revision whose turn it is; `undefined` when there is none yet. */
  get recordedRevision(): EventOf<'plan'> | undefined {
    const next = this.#recorded[this.#place];
    return next?.type === 'plan'
      ? (this.#frame.run.ledger.resolve(next) as EventOf<'plan'>)
      : undefined;
  }

  /** Takes a recorded failure of the plan back, if it was reopened after it. */
  takeBack(): boolean {
    if (this.#undone >= this.#reopened.length) return false;
    this.#undone++;
    return true;
  }

  /** True for an end that no longer counts: it was cancelled with the plan, which was reopened. */
  isTakenBack({ status, end }: InvocationRecord): boolean {
    return status === 'cancelled' && (end?.seq ?? 0) < (this.#reopened.at(-1) ?? 0);
  }

  /** Records an event, unless the ledger has it. */
  record(draft: EventDraft): void {
    const next = this.#recorded[this.#place];
    if (next === undefined) {
      this.#frame.run.ledger.append([draft]);
      return;
    }
    if (nameOf(next) !== nameOf(draft))
      throw new LedgerMismatchError({
        path: this.#frame.record.path,
        recorded: nameOf(next),
        found: nameOf(draft),
      });
    this.#place++;
  }
}

function nameOf(event: Event | EventDraft): string {
  switch (event.type) {
    case 'plan':
      return `revision ${event.revision} of the plan`;
    case 'plan_update':
      return `the failure of subtask "${event.subtask}"`;
    case 'decision':
      return `the decision "${event.decision}"`;
    default:
      return event.type;
  }
}
