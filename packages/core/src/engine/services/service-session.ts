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
  /** Name of its turn. */
  readonly runnable: string;
  /** Name of the service, unique among those of its kind. */
  readonly name: string;
  /** Aborted when the process loses the session, or ends. */
  readonly signal: AbortSignal;
  readonly #consumed = new Set<number>();

  readonly #claimedAt: number;

  constructor(
    taken: Taken,
    ledger: Ledger,
    { claim, signal }: { readonly claim: Claim; readonly signal: AbortSignal },
  ) {
    this.#claimedAt = claim.now;
    this.tenant = taken.tenant;
    this.runnable = taken.turn.runnable;
    this.name = taken.turn.requester;
    this.ledger = ledger;
    this.signal = signal;
  }

  get id(): string {
    return this.ledger.session;
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

  /** All events, with large values in them. */
  *events(): Iterable<Event> {
    for (const event of this.ledger.events) yield this.ledger.whole(event);
  }

  /** Items that no step has answered, in the order of posting. */
  async inbox(): Promise<readonly InboxEntry[]> {
    const entries = await this.store.inbox(this.id);
    return entries.filter(({ position }) => !this.#consumed.has(position));
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
