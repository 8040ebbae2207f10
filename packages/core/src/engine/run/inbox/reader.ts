import { defined } from '../../../base/defined.ts';
import { isAdjutantError } from '../../../base/error.ts';
import type { InboxEntry } from '../../../ledger/port.ts';
import { inFlightOn } from '../../frame/in-flight.ts';
import { openLanes } from '../root-run.ts';
import { type ItemOutcome, textOf } from './item.ts';
import { laneOfItem } from './item-lane.ts';
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
    inFlightOn(ledger).addressed.delete(this.#target.lane);
    // Items that are posted during the read may be missing in `entries`.
    const upTo = ledger.lease.inboxSeq;
    const entries = await ledger.ports.store.inbox(ledger.session);
    const failed = ledger.failure !== undefined;
    // Nothing would act on the items any more. They stay unseen, so the session is not released.
    if (this.#target.isReleasing?.() === true) {
      if (entries.some(({ position }) => position > this.#seen)) {
        inFlightOn(ledger).addressed.add(this.#target.lane);
        this.#target.late?.();
      }
      return;
    }
    const { taken } = inFlightOn(ledger);
    for (const entry of entries) {
      if (failed || entry.position <= this.#seen || taken.has(entry.position)) continue;
      const target = this.#targetOf(entry);
      const found = target === undefined ? undefined : itemOutcome(target, entry, this.left);
      if (target === undefined || found === undefined) continue;
      const asking = this.#askedFor(entry, found);
      const answer = asking === undefined ? undefined : await asking;
      // The run was released meanwhile: the next turn, or the next owner, takes the item in.
      if (asking !== undefined && this.#mayNotAppend()) return;
      const outcome = answer ?? found;
      const { drafts, isNote = false, requests } = outcome;
      // An item that has left the inbox no longer wakes the session. The run that has it now may
      // have waited.
      const wakeAt =
        drafts.length > 0 && !isNote && target.isOpen() ? { wakeAt: ledger.ports.clock.now() } : {};
      taken.add(entry.position);
      ledger.append(drafts, {
        consumes: [entry.position],
        ...wakeAt,
        ...defined({ requests }),
      });
      outcome.act?.();
    }
    this.#seen = Math.max(this.#seen, upTo, ...entries.map(({ position }) => position));
    forgetTaken(taken, entries);
    if (inFlightOn(ledger).addressed.size > 0) this.#target.addressed?.();
  }

  /**
   * The run that takes an item in: this one, or none for a lane without an open run. `undefined`
   * when the item is left to the run of another lane.
   */
  #targetOf(entry: InboxEntry): InboxTarget | undefined {
    const target = this.#target;
    const { ledger } = target;
    const lane = laneOfItem(ledger, entry) ?? target.lane;
    if (lane === target.lane) return target;
    const runnable = textOf(entry.data, 'runnable');
    const isBegun = runnable !== undefined && target.mayBegin?.(runnable) === true;
    const isOpen = openLanes(ledger).includes(lane);
    if (isOpen || isBegun) inFlightOn(ledger).addressed.add(lane);
    if (isOpen) return undefined;
    const runId = textOf(entry.data, 'runId') ?? '';
    return { ...target, lane, runId, isOpen: () => false };
  }
}

/** Number of positions that are kept at least: a read that began earlier may still bring them. */
const fewestTaken = 1_000;

/** Forgets items that have left the inbox long ago. */
function forgetTaken(taken: Set<number>, entries: readonly InboxEntry[]): void {
  if (taken.size <= 2 * fewestTaken) return;
  const left = new Set(entries.map(({ position }) => position));
  for (const position of [...taken].slice(0, -fewestTaken))
    if (!left.has(position)) taken.delete(position);
}
