import { defined } from '../../../base/defined.ts';
import { isAdjutantError } from '../../../base/error.ts';
import type { InboxEntry } from '../../../ledger/port.ts';
import type { ItemOutcome } from './item.ts';
import { itemOutcome } from './item-outcome.ts';
import type { InboxTarget } from './target.ts';

/** Milliseconds between two looks at the inbox when the store gives no hint. */
const lookEveryMs = 250;

/**
 * Turns posted items into events, in order. Each event is appended in the transaction that takes
 * its item out of the inbox. So an item is in the inbox or in the ledger, never in both or in none.
 */
export class InboxReader {
  readonly #target: InboxTarget;
  /**
   * Inputs that start a run, by the id of that run. They are left in the inbox for the process that
   * posted them.
   */
  readonly left = new Map<string, InboxEntry>();
  #seen = 0;
  #draining: Promise<void> | undefined;
  #stopped = false;
  #cancelTimer: () => void = () => undefined;
  #forget: () => void = () => undefined;

  constructor(target: InboxTarget) {
    this.#target = target;
  }

  /** Position of the last item that was read; `release` is called with it. */
  get seen(): number {
    return this.#seen;
  }

  /** Begins to look at the inbox: at each hint of the store, and in fixed intervals. */
  start(): void {
    const { ledger } = this.#target;
    this.#forget = ledger.onInbox(() => this.poke());
    this.#arm();
  }

  /** Stops looking, and resolves when the current look has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    this.#forget();
    await this.#draining?.catch(() => undefined);
  }

  /** Looks at the inbox now, because an item may have been posted. */
  poke(): void {
    if (!this.#stopped) void this.drain().catch((error: unknown) => this.#failed(error));
  }

  /**
   * Sets the timer of the next look. It uses the clock of the machine and not the clock port. Posts
   * do not belong to the time of the run, and a test clock must not hold them back.
   */
  #arm(): void {
    if (this.#stopped) return;
    const { clock } = this.#target.ledger.ports.host;
    this.#cancelTimer = clock.setTimer(lookEveryMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { ledger } = this.#target;
    try {
      const head =
        this.#stopped || ledger.failure !== undefined
          ? undefined
          : await ledger.ports.store.head(ledger.session);
      if (head !== undefined && head.inboxSeq > this.#seen) await this.drain();
    } catch (error) {
      this.#failed(error);
    }
    this.#arm();
  }

  /**
   * Fails the ledger, except when the store does not answer. It is then asked again, and the writer
   * finds out if the ledger is lost.
   */
  #failed(error: unknown): void {
    if (!isAdjutantError(error, 'store_unavailable') && this.#target.ledger.failure === undefined)
      this.#target.ledger.fail(error);
  }

  /** Takes in all items that were posted so far. */
  drain(): Promise<void> {
    if (this.#draining !== undefined) return this.#draining.then(() => this.drain());
    this.#draining = this.#takeIn().finally(() => {
      this.#draining = undefined;
    });
    return this.#draining;
  }

  /** Looks whether a message answers a waiting call; `undefined` for everything else. */
  #askedFor(
    entry: InboxEntry,
    { drafts: [draft], act }: ItemOutcome,
  ): Promise<ItemOutcome | undefined> | undefined {
    const { answerOf, ledger, runId } = this.#target;
    if (answerOf === undefined || ledger.requests.size === 0 || act !== undefined) return undefined;
    return draft?.type === 'user' && draft.invocationId === runId
      ? answerOf(entry, draft)
      : undefined;
  }

  #mayNotAppend(): boolean {
    if (this.#target.ledger.failure !== undefined) return true;
    if (this.#target.isReleasing?.() !== true) return false;
    this.#target.late?.();
    return true;
  }

  async #takeIn(): Promise<void> {
    const { ledger } = this.#target;
    if (ledger.failure !== undefined) return;
    // Items that are posted during the read may be missing in `entries`.
    const upTo = ledger.inboxSeq;
    const entries = await ledger.ports.store.inbox(ledger.session);
    const failed = ledger.failure !== undefined;
    // Nothing would act on the items any more. They stay unseen, so the session is not released.
    if (this.#target.isReleasing?.() === true) {
      if (entries.some(({ position }) => position > this.#seen)) this.#target.late?.();
      return;
    }
    for (const entry of entries) {
      if (failed || entry.position <= this.#seen) continue;
      const found = itemOutcome(this.#target, entry, this.left);
      if (found === undefined) continue;
      const asking = this.#askedFor(entry, found);
      const answer = asking === undefined ? undefined : await asking;
      // The run was released meanwhile: the next turn, or the next owner, takes the item in.
      if (asking !== undefined && this.#mayNotAppend()) return;
      const outcome = answer ?? found;
      const { drafts, isNote = false, requests } = outcome;
      // An item that has left the inbox no longer wakes the session. The run that has it now may
      // have waited.
      const wakeAt =
        drafts.length > 0 && !isNote && this.#target.isOpen()
          ? { wakeAt: ledger.ports.clock.now() }
          : {};
      ledger.append(drafts, {
        consumes: [entry.position],
        ...wakeAt,
        ...defined({ requests }),
      });
      outcome.act?.();
    }
    this.#seen = Math.max(this.#seen, upTo, ...entries.map(({ position }) => position));
  }
}
