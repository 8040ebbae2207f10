import type { Event, EventDraft } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Claim, InboxEntry, LedgerStore, ListedRow, Send, Taken } from '../../ledger/port.ts';

/** One append of a service, with everything that lands with it. */
export interface ServiceStep {
  readonly drafts?: readonly EventDraft[];
  /** Items that are answered by it. */
  readonly consumes?: readonly InboxEntry[];
  readonly sends?: readonly Send[];
  readonly rows?: readonly ListedRow[];
}

/** The session of a service while this process holds it. */
export class ServiceSession {
  readonly tenant: string;
  readonly ledger: Ledger;
  #runnable: string;
  /** Name of the service, unique among those of its kind. */
  readonly name: string;
  /** Aborted when the process loses the session, or ends. */
  readonly signal: AbortSignal;
  readonly #consumed = new Set<number>();
  #read: readonly InboxEntry[] = [];
  /** Number of the first ones of `#read` that are answered. */
  #answered = 0;
  readonly #claimedAt: number;

  constructor(
    taken: Taken,
    ledger: Ledger,
    { claim, signal }: { readonly claim: Claim; readonly signal: AbortSignal },
  ) {
    this.#claimedAt = claim.now;
    this.tenant = taken.tenant;
    this.#runnable = taken.turn.runnable;
    this.name = taken.turn.requester;
    this.ledger = ledger;
    this.signal = signal;
  }

  get id(): string {
    return this.ledger.session;
  }

  /** Name of its turn. Only processes that have this name take it. */
  get runnable(): string {
    return this.#runnable;
  }

  /** Gives its turn another name, with which the session is released. */
  nameTurn(runnable: string): void {
    this.#runnable = runnable;
  }

  get store(): LedgerStore {
    return this.ledger.ports.store;
  }

  /**
   * Now, by the clock of the store. It never lies before the claim, also where the clock of this
   * process was put back: what the store holds for due is due.
   */
  now(): number {
    return Math.max(this.ledger.ports.clock.now(), this.#claimedAt);
  }

  /** Events after the first `after` ones, with large values in them. */
  *events(after = 0): Iterable<Event> {
    const { events } = this.ledger;
    for (let i = after; i < events.length; i++) yield this.ledger.whole(events[i] as Event);
  }

  /** Items that no step has answered, in the order of posting. */
  async inbox(): Promise<readonly InboxEntry[]> {
    const entries = await this.store.inbox(this.id);
    return entries.filter(({ position }) => !this.#consumed.has(position));
  }

  /**
   * The first item that no step has answered. The inbox is read again when those that were read are
   * answered: with thousands of items, each step would read them all.
   * @param isLeft true for an item that is left where it is
   */
  async nextItem(isLeft: (entry: InboxEntry) => boolean): Promise<InboxEntry | undefined> {
    const found = this.#nextRead(isLeft);
    if (found !== undefined) return found;
    [this.#read, this.#answered] = [await this.inbox(), 0];
    return this.#nextRead(isLeft);
  }

  #nextRead(isLeft: (entry: InboxEntry) => boolean): InboxEntry | undefined {
    for (let i = this.#answered; i < this.#read.length; i++) {
      const entry = this.#read[i] as InboxEntry;
      const isAnswered = this.#consumed.has(entry.position);
      if (isAnswered && i === this.#answered) this.#answered += 1;
      if (!isAnswered && !isLeft(entry)) return entry;
    }
    return undefined;
  }

  /** Appends a step; resolves when it is durable. */
  async append({ drafts = [], consumes = [], sends = [], rows = [] }: ServiceStep): Promise<void> {
    for (const { position } of consumes) this.#consumed.add(position);
    this.ledger.append(drafts, {
      ...(consumes.length === 0 ? {} : { consumes: consumes.map(({ position }) => position) }),
      ...(sends.length === 0 ? {} : { sends }),
      ...(rows.length === 0 ? {} : { rows }),
    });
    await this.ledger.flush();
  }
}
