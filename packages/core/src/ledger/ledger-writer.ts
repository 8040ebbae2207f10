import { type Clock, systemClock } from '../base/clock.ts';
import { type AdjutantError, isAdjutantError } from '../base/error.ts';
import { SessionDeletedError, StoreUnavailableError } from './errors.ts';
import type { Event } from './event.ts';
import type { PendingWrite } from './pending-write.ts';
import type {
  AppendReceipt,
  Batch,
  Claim,
  LedgerStore,
  PendingRequest,
  ReleaseOptions,
  ReleaseReceipt,
  RequestSettlement,
  SessionSummary,
  SharedValue,
} from './port.ts';
import type { Recomposition, SharedConflict } from './refused-writes.ts';

/** How long an append that nobody waits for may wait for company. */
const lingerMs = 2;
/** How often a batch is sent at least before the writer gives up, be the lease over or not. */
const leastSends = 4;
const firstResendDelayMs = 50;
const longestResendDelayMs = 2_000;
/**
 * How often shared writes are made again on top of what other sessions wrote before they are
 * refused.
 */
const mostRepeats = 5;

interface Waiter {
  readonly seq: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A value beside the events, kept until the events that refer to it are durable. */
export interface BatchBlob {
  readonly address: string;
  readonly bytes: Uint8Array;
}

/** What goes with events into one batch besides the events. */
export interface BatchExtras {
  readonly shared?: readonly PendingWrite[];
  readonly blobs?: readonly BatchBlob[];
  readonly consumes?: readonly number[];
  readonly requests?: readonly PendingRequest[];
  readonly settles?: readonly RequestSettlement[];
  readonly wakeAt?: number | null;
}

export interface WriterOptions {
  readonly store: LedgerStore;
  /** Judges by its monotonic time whether the lease lives. */
  readonly clock: Clock;
  /** Milliseconds that the lease lasts from each claim, append and renewal. */
  readonly leaseMs: number;
  /** Claims the ledger for this writer; called before the first write. */
  readonly claim: () => Promise<Claim>;
  /** Called with events that have become durable, in order. */
  readonly onDurable: (events: readonly Event[]) => void;
  /** Called when the store says that something was posted. */
  readonly onInbox: (inboxSeq: number) => void;
  /** Called once, when the writer can write no more. */
  readonly onFailure: (error: unknown) => void;
  /** The session list's entry as of now. */
  readonly summary: () => SessionSummary;
  /**
   * What takes the place of all that is on its way, after the store refused a shared write: what
   * else happened must land.
   */
  readonly recompose: (
    events: readonly Event[],
    writes: readonly PendingWrite[],
    conflict: SharedConflict,
  ) => Recomposition & { readonly blobs: readonly BatchBlob[] };
}

/**
 * Writes the events of one ledger strictly in order, in batches: one on the way, one gathering.
 * Events that nobody waits for linger a moment so that the next ones share their commit; waiting
 * for them sends them at once.
 */
export class LedgerWriter {
  readonly #options: WriterOptions;
  #claim: Claim | undefined;
  #claiming: Promise<Claim> | undefined;
  /** Monotonic milliseconds until which nobody else can have been given the ledger. */
  #leaseEnd = Number.NEGATIVE_INFINITY;
  #gathering: Event[] = [];
  #extras: BatchExtras[] = [];
  #sending = false;
  #durableSeq: number;
  #waiters: Waiter[] = [];
  #lingerArmed = false;
  #sendScheduled = false;
  #failure: { readonly error: unknown } | undefined;
  #summary: SessionSummary | undefined;
  #inboxSeq = 0;
  readonly #idlers: (() => void)[] = [];

  constructor(options: WriterOptions, durableSeq: number) {
    this.#options = options;
    this.#durableSeq = durableSeq;
  }

  get claim(): Claim | undefined {
    return this.#claim;
  }

  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  get durableSeq(): number {
    return this.#durableSeq;
  }

  /** The last inbox item that the store told of. */
  get inboxSeq(): number {
    return this.#inboxSeq;
  }

  #saw(inboxSeq: number): void {
    if (inboxSeq <= this.#inboxSeq) return;
    this.#inboxSeq = inboxSeq;
    this.#options.onInbox(inboxSeq);
  }

  /**
   * Takes events over, numbered without gaps behind those given before. They are on their way
   * within 2 ms.
   */
  add(events: readonly Event[], extras: BatchExtras | undefined): void {
    for (const event of events) this.#gathering.push(event);
    if (extras !== undefined) this.#extras.push(extras);
    if (this.#lingerArmed || this.#sending) return;
    this.#lingerArmed = true;
    // Not the clock port: how long writes gather is no part of what happened, and a test clock must
    // not hold them back.
    systemClock.setTimer(lingerMs, this.#afterLinger);
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

  /** Resolves when all events up to `seq` are durable. @throws what made the writer fail */
  durable(seq: number): Promise<void> | undefined {
    if (seq <= this.#durableSeq) return undefined;
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    if (!this.#sending && !this.#sendScheduled) {
      // Everything that is appended in this turn of the event loop's microtasks shares the batch.
      this.#sendScheduled = true;
      queueMicrotask(this.#afterTurn);
    }
    return new Promise((resolve, reject) => this.#waiters.push({ seq, resolve, reject }));
  }

  /** Makes sure that this writer owns the ledger. */
  async own(): Promise<Claim> {
    if (this.#claim !== undefined) return this.#claim;
    // Two claims at once would fence each other.
    this.#claiming ??= this.#prolongs(() => this.#options.claim()).finally(() => {
      this.#claiming = undefined;
    });
    this.#claim = await this.#claiming;
    return this.#claim;
  }

  /**
   * Whether no other process can have been given the ledger: the store has confirmed the lease, and
   * it is not over.
   */
  leaseIsLive(): boolean {
    return (
      this.#claim !== undefined &&
      this.#failure === undefined &&
      this.#options.clock.monotonic() < this.#leaseEnd
    );
  }

  /** Prolongs the lease. A conflict is final. @throws what the store said */
  async renewLease(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    const claim = await this.own();
    try {
      await this.#prolongs(() => this.#options.store.renew(claim));
    } catch (error) {
      // A ledger that was given back meanwhile is not lost.
      const explained = await this.#explained(error);
      if (isAdjutantError(error, 'ledger_conflict') && this.#claim === claim) this.fail(explained);
      throw explained;
    }
  }

  /**
   * The lease lasts from the moment at which the store was asked: when it answers, part of the time
   * has passed.
   */
  async #prolongs<Answer extends { readonly inboxSeq: number }>(
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const asked = this.#options.clock.monotonic();
    const answer = await ask();
    this.#leaseEnd = Math.max(this.#leaseEnd, asked + this.#options.leaseMs);
    this.#saw(answer.inboxSeq);
    return answer;
  }

  /** Resolves when nothing is left to be sent, be it only what goes with events. */
  async idle(): Promise<void> {
    while (
      this.#failure === undefined &&
      (this.#sending || this.#gathering.length > 0 || this.#extras.length > 0)
    ) {
      if (!this.#sending) await this.#send();
      else await new Promise<void>((resolve) => this.#idlers.push(resolve));
    }
  }

  /**
   * Gives the ownership back, unless something newer than `inboxSeq` was posted; the next write
   * claims again.
   */
  async release(options?: ReleaseOptions): Promise<Omit<ReleaseReceipt, 'now'>> {
    const claim = this.#claim;
    if (claim === undefined) return { released: true, inboxSeq: options?.inboxSeq ?? 0 };
    if (this.#failure !== undefined) return this.#releaseAfterFailure(claim, this.#failure.error);
    const receipt = await this.#options.store.release(claim, options);
    if (receipt.released) this.#disown();
    return receipt;
  }

  /** Others need not wait until the lease is over; but that is no more than a favour. */
  async #releaseAfterFailure(claim: Claim, failure: unknown): Promise<ReleaseReceipt> {
    this.#disown();
    if (!isAdjutantError(failure, 'ledger_conflict'))
      await this.#options.store.release(claim).catch(() => undefined);
    throw failure;
  }

  #disown(): void {
    this.#claim = undefined;
    this.#leaseEnd = Number.NEGATIVE_INFINITY;
  }

  async #send(): Promise<void> {
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
        const claim = this.#claim ?? (await this.own());
        const blobs = extras.flatMap((extra) => extra.blobs ?? []);
        const writes = extras.flatMap(({ shared = [] }) => shared);
        const landed = await this.#appendWithoutConflicts(
          claim,
          this.#batch(events, extras, blobs),
          writes,
          blobs,
        );
        // Who lost the ledger meanwhile has dropped what was on its way.
        if (this.#failure === undefined) this.#landed(landed.events);
      }
    } catch (error) {
      this.fail(await this.#explained(error));
    } finally {
      this.#sending = false;
      for (const tell of this.#idlers.splice(0)) tell();
    }
  }

  #batch(
    events: readonly Event[],
    extras: readonly BatchExtras[],
    blobs: readonly BatchBlob[],
  ): Batch {
    const batch: { -readonly [Member in keyof Batch]: Batch[Member] } = { events };
    const summary = this.#options.summary();
    if (!sameSummary(summary, this.#summary)) {
      this.#summary = summary;
      batch.summary = summary;
    }
    for (const { consumes, requests, settles, wakeAt } of extras) {
      if (consumes !== undefined) batch.consumes = [...(batch.consumes ?? []), ...consumes];
      if (requests !== undefined) batch.requests = [...(batch.requests ?? []), ...requests];
      if (settles !== undefined) batch.settles = [...(batch.settles ?? []), ...settles];
      if (wakeAt !== undefined) batch.wakeAt = wakeAt;
    }
    if (blobs.length > 0) batch.blobs = blobs.map(({ address }) => address);
    return batch;
  }

  /**
   * A shared write that came too late is made again or refused alone: the rest of the batch has
   * happened and is written.
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
        await this.#appendSurely(claim, batch, blobs);
        return batch;
      } catch (error) {
        if (!isAdjutantError(error, 'state_conflict') || writes.length === 0) throw error;
        const stored = await this.#readShared(error);
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
   * Puts what fits the store in the place of a batch, and of all that was gathered on top of it.
   * @throws when nothing helps
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

  /**
   * What the store holds of the scope of a conflict. @throws what the store said, when it does not
   * answer several times
   */
  async #readShared({ data }: AdjutantError): Promise<Readonly<Record<string, SharedValue>>> {
    const { scope, scopeId } = data as { scope: string; scopeId: string };
    for (let asked = 1; ; asked++) {
      try {
        const stored = await this.#options.store.readShared(scope, scopeId);
        if (this.#failure !== undefined) throw this.#failure.error;
        return stored;
      } catch (error) {
        if (this.#failure !== undefined || !mayPass(error) || asked >= leastSends) throw error;
        const delay = Math.min(firstResendDelayMs * 2 ** (asked - 1), longestResendDelayMs);
        await new Promise<void>((resolve) => systemClock.setTimer(delay, resolve));
      }
    }
  }

  /**
   * An append that failed without an answer may have landed, and what it holds has happened: the
   * very same batch is sent again, which the store recognises, for as long as the lease lives.
   */
  async #appendSurely(
    claim: Claim,
    batch: Batch,
    blobs: readonly BatchBlob[],
  ): Promise<AppendReceipt> {
    const { store, leaseMs } = this.#options;
    const expected = { seq: this.#durableSeq, epoch: claim.epoch };
    // Not the clock port alone: where time stands still the store would be asked for ever.
    const end = systemClock.monotonic() + leaseMs;
    for (let sent = 1; ; sent++) {
      try {
        return await this.#prolongs(() => store.append(claim.session, expected, batch));
      } catch (error) {
        const blobIsMissing = isAdjutantError(error, 'blob_missing') && blobs.length > 0;
        if (!blobIsMissing && !mayPass(error)) throw error;
        const goesOn = !blobIsMissing && this.leaseIsLive() && systemClock.monotonic() < end;
        if (sent >= leastSends && !goesOn)
          throw isAdjutantError(error) ? error : unanswered(claim.session, sent, error);
        const delay = Math.min(firstResendDelayMs * 2 ** (sent - 1), longestResendDelayMs);
        await new Promise<void>((resolve) => systemClock.setTimer(delay, resolve));
        if (this.#failure !== undefined) throw error;
        if (blobIsMissing) await this.#putAgain(blobs);
      }
    }
  }

  /** A put that fails too is told by the next append. */
  async #putAgain(blobs: readonly BatchBlob[]): Promise<void> {
    await Promise.allSettled(
      blobs.map(({ address, bytes }) => this.#options.store.putBlob(bytes, address)),
    );
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

  /** A ledger that is no longer there was deleted, not taken over. */
  async #explained(error: unknown): Promise<unknown> {
    const session = this.#claim?.session;
    if (session === undefined || !isAdjutantError(error, 'ledger_conflict')) return error;
    const isGone = await this.#options.store.head(session).then(
      (head) => head === undefined,
      () => false,
    );
    return isGone ? new SessionDeletedError({ session }) : error;
  }

  /** Gives up: nothing more is written, and all who wait are told why. */
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

/**
 * Whether the same append may succeed later. Errors that are not Adjutant's come from the way to
 * the store, unless they blame the batch.
 */
function mayPass(error: unknown): boolean {
  if (isAdjutantError(error))
    return error.code === 'store_unavailable' && error.data['permanent'] !== true;
  return !(error instanceof RangeError || error instanceof TypeError);
}

function unanswered(session: string, sent: number, cause: unknown): StoreUnavailableError {
  return new StoreUnavailableError(
    { store: session, reason: `an append was not answered ${sent} times` },
    { cause },
  );
}

function sameSummary(a: SessionSummary, b: SessionSummary | undefined): boolean {
  return (
    b !== undefined &&
    a.status === b.status &&
    a.title === b.title &&
    a.runnable === b.runnable &&
    a.user === b.user
  );
}
