import { LedgerConflictError } from '../../ledger/errors.ts';
import type { EventDraft, EventOf } from '../../ledger/event.ts';
import type { RecordedPlace } from '../../ledger/recording.ts';
import { type RecordingOptions, ReplayRecording } from '../replay-recording.ts';

/** Types of events that a continued run may write before it does something new. */
const marks: ReadonlySet<string> = new Set([
  'decision',
  'error',
  'invocation_resume',
  'invocation_yield',
  'memory',
  'state_change',
]);

/**
 * Recording of a whole ledger, for code that goes on behind its end. It stops the code at the first
 * thing that is new: a call, a question, a new part. Nothing outside is done.
 */
export class ResumeRecording extends ReplayRecording {
  /** Resolves when code has gone on beyond the record. */
  readonly wentOn: Promise<void>;
  /** The first invocation that ended in an error instead. */
  failed: EventOf<'invocation_end'> | undefined;
  readonly #goOn: () => void;
  readonly #session: string;
  #isOver = false;

  constructor(session: string, options: Omit<RecordingOptions, 'from' | 'to' | 'isCut'>) {
    const end = options.events.length;
    super({ ...options, from: end, to: end, isCut: true });
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.wentOn, this.#goOn] = [promise, resolve];
    this.#session = session;
  }

  override take(draft: EventDraft): (EventDraft & RecordedPlace) | undefined {
    if (!this.#isOver && this.#isOld(draft)) return super.take(draft);
    this.#isOver = true;
    this.#goOn();
    // Another owner of the ledger would stop the code at the same place.
    const head = { seq: 0, epoch: 0 };
    throw new LedgerConflictError({ session: this.#session, expected: head, found: head });
  }

  #isOld(draft: EventDraft): boolean {
    if (draft.type === 'invocation_end' && draft.status === 'error') {
      this.failed ??= draft as EventOf<'invocation_end'>;
      return true;
    }
    return marks.has(draft.type);
  }
}
