import {
  type EventDraft,
  type EventOf,
  isAdjutantError,
  type Store,
  type StoredEvent,
} from 'adjutant';
import { type Clock, type IdSource, systemTurns } from 'adjutant/ports';
import { type LedgerStore, processOwner } from 'adjutant/store';

/** Event that is written to one of the server's own ledgers. */
export type DecisionDraft = Extract<EventDraft, { readonly type: 'decision' }>;

/** Address of one of the server's own ledgers, and the ports that write to it. */
export interface SystemLedgerPorts {
  readonly store: Store;
  readonly tenant: string;
  /** A name that no app of a user's has: that of the served app, a colon, and what is kept. */
  readonly app: string;
  readonly session: string;
  readonly title: string;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Where the server keeps what belongs to no tenant. No caller can be of it. */
export const systemTenant = 'adjutant:system';

/** Tenants that no credential can be of. */
export function isReservedTenant(tenant: string): boolean {
  return tenant.startsWith('adjutant:');
}

/**
 * Milliseconds after which another process may write where this one has stopped in the middle of
 * it.
 */
const leaseMs = 5_000;
const retryMs = 25;
/** Others write for milliseconds; one that was killed is waited out. */
const longestWaitMs = 3 * leaseMs;

/**
 * A ledger of decisions that the server keeps beside those of its app; many processes write to it,
 * each for a moment.
 */
export class SystemLedger {
  readonly #ports: SystemLedgerPorts;
  readonly #ledgers: LedgerStore;

  constructor(ports: SystemLedgerPorts) {
    this.#ports = ports;
    this.#ledgers = ports.store.for({ tenant: ports.tenant, app: ports.app });
  }

  /** The number of the last event; 0 when nothing was written yet. @throws StoreUnavailableError */
  async seq(): Promise<number> {
    return (await this.#ledgers.head(this.#ports.session))?.seq ?? 0;
  }

  /** @throws StoreUnavailableError */
  async *read(after: number): AsyncGenerator<StoredEvent, void, undefined> {
    for await (const page of this.#ledgers.readStored(this.#ports.session, { after })) {
      for (const event of page) {
        yield event;
        const turn = systemTurns.pass();
        if (turn !== undefined) await turn;
      }
    }
  }

  /**
   * Yields events after `after` as they land, from any writer, until `signal` aborts. The ledger
   * must exist.
   */
  follow(after: number, signal: AbortSignal): AsyncIterable<StoredEvent> {
    return this.#ledgers.follow(this.#ports.session, after, signal);
  }

  /**
   * Writes the events of `decide` while no other writer can write.
   * @param decide is given the number of the last event, has read all up to it when it resolves,
   * and throws when nothing is to be written
   * @throws SessionBusyError, StoreUnavailableError
   */
  async write(
    decide: (seq: number) => Promise<readonly DecisionDraft[]>,
  ): Promise<readonly EventOf<'decision'>[]> {
    const { session, title } = this.#ports;
    const claim = await this.#claim();
    try {
      const drafts = await decide(claim.seq);
      const events = drafts.map((draft, index) => this.#event(draft, claim.seq + 1 + index));
      await this.#ledgers.append(
        session,
        { seq: claim.seq, epoch: claim.epoch },
        { events, summary: { status: 'completed', title } },
      );
      return events;
    } finally {
      // A lease that cannot be released ends by itself.
      await this.#ledgers.release(claim).catch(() => undefined);
    }
  }

  async #claim(): ReturnType<LedgerStore['claim']> {
    const { session, clock, ids } = this.#ports;
    const giveUpAt = clock.monotonic() + longestWaitMs;
    for (;;) {
      try {
        // Each write has an owner of its own, or two of this process would be one.
        return await this.#ledgers.claim(session, processOwner(ids), { ttlMs: leaseMs });
      } catch (error) {
        if (!isAdjutantError(error, 'session_busy') || clock.monotonic() >= giveUpAt) throw error;
        await new Promise<void>((resolve) => void clock.setTimer(retryMs, resolve));
      }
    }
  }

  #event(draft: DecisionDraft, seq: number): EventOf<'decision'> {
    const { clock, ids } = this.#ports;
    return { v: 1, seq, id: ids.next(), at: clock.now(), ...draft };
  }
}
