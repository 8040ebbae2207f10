import type { Clock } from '../base/clock.ts';
import { isAdjutantError } from '../base/error.ts';
import type { Event } from './event.ts';
import type { PendingWrite } from './pending-write.ts';
import type { Batch, Claim, LedgerStore, SessionSummary } from './port.ts';
import { type BatchBlob, type BatchExtras, batchOf, isSameSummary } from './writer/batch.ts';
import type { LedgerLease } from './writer/ledger-lease.ts';
import { PersistentStore } from './writer/persistent-store.ts';
import type { Recomposition, SharedConflict } from './writer/refused-writes.ts';

export type { BatchBlob, BatchExtras } from './writer/batch.ts';

/** Milliseconds that an append may linger for others when no caller waits for it. */
const lingerMs = 2;
/** Largest number of repeats of a shared write on top of other sessions' writes. */
const mostRepeats = 5;

interface Waiter {
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The ports of a writer, and the callbacks of its ledger. */
export interface WriterOptions {
  readonly store: LedgerStore;
  /** Clock of the machine, for gathering and repeats: a test clock must not hold writes back. */
  readonly machine: Clock;
  /** Milliseconds that the lease lasts from each claim, append and renewal. */
  readonly leaseMs: number;
  /** Ownership of the ledger; claimed before the first write. */
  readonly lease: LedgerLease;
  /** Called with events that have become durable, in order. */
  readonly onDurable: (events: readonly Event[]) => void;
  /** Called when a batch with messages to other ledgers has become durable. */
  readonly onSends?: (() => void) | undefined;
  /** Called once, when the writer can write no more. */
  readonly onFailure: (error: unknown) => void;
  /** Returns the present entry of the session list. */
  readonly summary: () => SessionSummary;
  /**
   * Makes all events on their way anew after the store refused a shared write. The other events
   * have happened and must land.
   */
  readonly recompose: (
    events: readonly Event[],
    writes: readonly PendingWrite[],
    conflict: SharedConflict,
  ) => Recomposition & { readonly blobs: readonly BatchBlob[] };
}

/**
 * Writes the events of one ledger strictly in order, in batches: one on the way, one gathering.
 * Events that no caller waits for linger a moment, so that the next ones share their commit. A
 * caller that waits for them has them sent at once.
 */
export class LedgerWriter {
  readonly #options: WriterOptions;
  #gathering: Event[] = [];
  #extras: BatchExtras[] = [];
  #sending = false;
  #durableSeq: number;
  #waiters: Waiter[] = [];
  #lingerArmed = false;
  #sendScheduled = false;
  #failure: { readonly error: unknown } | undefined;
  #summary: SessionSummary | undefined;
  readonly #idlers: (() => void)[] = [];
  readonly #store: PersistentStore;

  constructor(options: WriterOptions, durableSeq: number) {
    this.#options = options;
    this.#durableSeq = durableSeq;
    this.#store = new PersistentStore({
      store: options.store,
      clock: options.machine,
      leaseMs: options.leaseMs,
      durableSeq: () => this.#durableSeq,
      leaseIsLive: () => options.lease.isLive(),
      failure: () => this.#failure,
      prolong: (ask) => options.lease.prolong(ask),
    });
  }

  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  get durableSeq(): number {
    return this.#durableSeq;
  }

  /** Takes events, numbered without gaps after those before. They are sent within 2 ms. */
  add(events: readonly Event[], extras: BatchExtras | undefined): void {
    for (const event of events) this.#gathering.push(event);
    if (extras !== undefined) this.#extras.push(extras);
    if (this.#lingerArmed || this.#sending) return;
    this.#lingerArmed = true;
    // The clock of the machine: the time for gathering is not part of the run.
    this.#options.machine.setTimer(lingerMs, this.#afterLinger);
  }

  readonly #afterLinger = (): void => {
    this.#lingerArmed = false;
    if (!this.#sending && (this.#gathering.length > 0 || this.#extras.length > 0))
      void this.#send();
  };

  readonly #afterTurn = (): void => {
    this.#sendScheduled = false;
    if (!this.#sending) void this.#send();
  };

  /**
   * Resolves when all events up to `seq` are durable.
   * @throws the error that made the writer fail
   */
  durable(seq: number): Promise<void> | undefined {
    if (seq <= this.#durableSeq) return undefined;
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (!this.#sending && !this.#sendScheduled) {
      // All appends of this turn of the microtasks share the batch.
      this.#sendScheduled = true;
      queueMicrotask(this.#afterTurn);
    }
    return new Promise((resolve, reject) => this.#waiters.push({ seq, resolve, reject }));
  }

  /** Resolves when no events and no extras are left to send. */
  async idle(): Promise<void> {
    while (
      this.#failure === undefined &&
      (this.#sending || this.#gathering.length > 0 || this.#extras.length > 0)
    ) {
      if (!this.#sending) await this.#send();
      else await new Promise<void>((resolve) => this.#idlers.push(resolve));
    }
  }

  async #send(): Promise<void> {
    const { lease } = this.#options;
    this.#sending = true;
    try {
      while (
        (this.#gathering.length > 0 || this.#extras.length > 0) &&
        this.#failure === undefined
      ) {
        const events = this.#gathering;
        const extras = this.#extras;
        this.#gathering = [];
        this.#extras = [];
        const claim = lease.claim ?? (await lease.own());
        const blobs = extras.flatMap((extra) => extra.blobs ?? []);
        const writes = extras.flatMap(({ shared = [] }) => shared);
        const batch = batchOf(events, extras, blobs, this.#changedSummary());
        const landed = await this.#appendWithoutConflicts(claim, batch, writes, blobs);
        // A writer that lost the ledger meanwhile has dropped the events on their way.
        if (this.#failure === undefined) this.#landed(landed.events);
        if (landed.sends !== undefined) this.#options.onSends?.();
      }
    } catch (error) {
      this.fail(await lease.explained(error));
    } finally {
      this.#sending = false;
      for (const tell of this.#idlers.splice(0)) tell();
    }
  }

  /** The entry of the session list when it has changed since the last batch. */
  #changedSummary(): SessionSummary | undefined {
    const summary = this.#options.summary();
    if (isSameSummary(summary, this.#summary)) return undefined;
    this.#summary = summary;
    return summary;
  }

  /**
   * Appends a batch. A shared write that came too late is made again, or it alone is refused. The
   * rest of the batch has happened and is written.
   */
  async #appendWithoutConflicts(
    claim: Claim,
    given: Batch,
    shared: readonly PendingWrite[],
    givenBlobs: readonly BatchBlob[],
  ): Promise<Batch> {
    let batch = given;
    let writes = shared;
    let blobs = givenBlobs;
    for (let sent = 1; ; sent++) {
      if (writes.length > 0) batch = { ...batch, shared: writes.map(({ write }) => write) };
      try {
        await this.#store.append(claim, batch, blobs);
        return batch;
      } catch (error) {
        if (!isAdjutantError(error, 'state_conflict') || writes.length === 0) throw error;
        const stored = await this.#store.readShared(error);
        const lastSeq = this.#durableSeq + batch.events.length;
        const remade = this.#recompose(batch.events, writes, {
          error,
          stored,
          refuseUpTo: sent > mostRepeats ? lastSeq : 0,
        });
        writes = remade.writes;
        blobs = [...blobs, ...remade.blobs];
        const { shared: _refused, ...rest } = batch;
        batch = {
          ...rest,
          events: remade.events,
          ...(blobs.length === 0 ? {} : { blobs: blobs.map(({ address }) => address) }),
        };
      }
    }
  }

  /**
   * Replaces a batch, and the events that were gathered after it, by events that fit the stored
   * values.
   * @throws the conflict when none of the batch's writes changes
   */
  #recompose(
    events: readonly Event[],
    writes: readonly PendingWrite[],
    conflict: SharedConflict,
  ): {
    readonly events: readonly Event[];
    readonly writes: readonly PendingWrite[];
    readonly blobs: readonly BatchBlob[];
  } {
    const gathered = this.#extras.flatMap(({ shared = [] }) => shared);
    const remade = this.#options.recompose(
      [...events, ...this.#gathering],
      [...writes, ...gathered],
      conflict,
    );
    if (!writes.some((write) => remade.writes.has(write))) throw conflict.error;
    const eventNow = (event: Event): Event => remade.events.get(event) ?? event;
    const writesNow = (before: readonly PendingWrite[]): PendingWrite[] =>
      before.flatMap((write) => {
        const after = remade.writes.has(write) ? remade.writes.get(write) : write;
        return after === undefined ? [] : [after];
      });
    this.#gathering = this.#gathering.map(eventNow);
    this.#extras = this.#extras.map((extra) =>
      extra.shared === undefined ? extra : { ...extra, shared: writesNow(extra.shared) },
    );
    return { events: events.map(eventNow), writes: writesNow(writes), blobs: remade.blobs };
  }

  #landed(events: readonly Event[]): void {
    this.#durableSeq += events.length;
    if (this.#waiters.length > 0) {
      const due = this.#waiters.filter((waiter) => waiter.seq <= this.#durableSeq);
      this.#waiters = this.#waiters.filter((waiter) => waiter.seq > this.#durableSeq);
      for (const waiter of due) waiter.resolve();
    }
    this.#options.onDurable(events);
  }

  /** Stops writing for good, and rejects all callers that wait. */
  fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    this.#gathering = [];
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(error);
    this.#options.onFailure(error);
  }
}
