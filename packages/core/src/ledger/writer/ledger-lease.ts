import { isAdjutantError } from '../../base/error.ts';
import { LedgerConflictError, SessionDeletedError } from '../errors.ts';
import type { LedgerPorts } from '../ledger-ports.ts';
import type { Claim, ReleaseOptions, ReleaseReceipt } from '../port.ts';

/** The ledger that is claimed, and the callbacks of its writer. */
export interface LeaseOptions {
  readonly session: string;
  readonly ports: LedgerPorts;
  /** Sequence number of the last durable event. */
  readonly durableSeq: () => number;
  /** The reason why the writer failed, if it has. */
  readonly failure: () => { readonly error: unknown } | undefined;
  /** Called when another process owns the ledger, or when it was deleted. */
  readonly onLost: (error: unknown) => void;
  /** Called when the store reports a new inbox item. */
  readonly onInbox: (inboxSeq: number) => void;
}

/**
 * Ownership of one ledger: its claim, and how long it lasts. The lease counts in monotonic time
 * from before each claim, append and renewal that the store confirmed. So a process that was
 * suspended finds its lease over.
 */
export class LedgerLease {
  readonly #options: LeaseOptions;
  #claim: Claim | undefined;
  #claiming: Promise<Claim> | undefined;
  /** Monotonic milliseconds up to which no other process can get the ledger. */
  #end = Number.NEGATIVE_INFINITY;
  #inboxSeq = 0;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  get claim(): Claim | undefined {
    return this.#claim;
  }

  /** Epoch of the claim; 0 without one. */
  get epoch(): number {
    return this.#claim?.epoch ?? 0;
  }

  /** Position of the last inbox item that the store reported. */
  get inboxSeq(): number {
    return this.#inboxSeq;
  }

  /**
   * Claims the ledger unless this process owns it already.
   * @throws SessionBusyError, LedgerConflictError
   */
  async own(): Promise<Claim> {
    if (this.#claim !== undefined) return this.#claim;
    // Two claims at once would fence each other off.
    this.#claiming ??= this.prolong(() => this.#makeClaim()).finally(() => {
      this.#claiming = undefined;
    });
    this.#claim = await this.#claiming;
    return this.#claim;
  }

  /**
   * Claims the ledger. Fails when others have written since it was read, because the fold here
   * would be wrong.
   */
  async #makeClaim(): Promise<Claim> {
    const { session, ports, durableSeq } = this.#options;
    const { store, owner, leaseMs } = ports;
    // A claim creates a missing ledger. A deleted ledger must not come back as an empty one.
    if (durableSeq() > 0 && (await store.head(session)) === undefined)
      throw new SessionDeletedError({ session });
    const claim = await store.claim(session, owner, { ttlMs: leaseMs });
    if (claim.seq !== durableSeq()) {
      await store.release(claim);
      throw new LedgerConflictError({
        session,
        expected: { seq: durableSeq(), epoch: claim.epoch },
        found: { seq: claim.seq, epoch: claim.epoch },
      });
    }
    return claim;
  }

  /**
   * Checks that this process certainly still owns the ledger: the store has confirmed the lease,
   * and it is not over. To be called as the last step before an effect.
   */
  isLive(): boolean {
    const { ports, failure } = this.#options;
    return (
      this.#claim !== undefined && failure() === undefined && ports.clock.monotonic() < this.#end
    );
  }

  /**
   * Prolongs the lease, or claims a ledger that is not owned. A `LedgerConflictError` ends the
   * ledger for good.
   * @throws the error of the store
   */
  async renew(): Promise<void> {
    const failure = this.#options.failure();
    if (failure !== undefined) throw failure.error;
    const claim = await this.own();
    try {
      await this.prolong(() => this.#options.ports.store.renew(claim));
    } catch (error) {
      // A ledger that was released meanwhile is not lost.
      const explained = await this.explained(error);
      if (isAdjutantError(error, 'ledger_conflict') && this.#claim === claim)
        this.#options.onLost(explained);
      throw explained;
    }
  }

  /**
   * Runs a call that prolongs the lease. The lease lasts from the moment of the call: when the
   * store answers, a part of it has passed.
   */
  async prolong<Answer extends { readonly inboxSeq: number }>(
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const { clock, leaseMs } = this.#options.ports;
    const asked = clock.monotonic();
    const answer = await ask();
    this.#end = Math.max(this.#end, asked + leaseMs);
    this.#saw(answer.inboxSeq);
    return answer;
  }

  #saw(inboxSeq: number): void {
    if (inboxSeq <= this.#inboxSeq) return;
    this.#inboxSeq = inboxSeq;
    this.#options.onInbox(inboxSeq);
  }

  /**
   * Releases the ledger, unless an item newer than `inboxSeq` was posted. The next write claims it
   * again.
   * @throws the error that made the writer fail; others can claim the session all the same
   */
  async release(options?: ReleaseOptions): Promise<Omit<ReleaseReceipt, 'now'>> {
    const claim = this.#claim;
    if (claim === undefined) return { released: true, inboxSeq: options?.inboxSeq ?? 0 };
    const failure = this.#options.failure();
    if (failure !== undefined) return this.#releaseAfterFailure(claim, failure.error);
    try {
      const receipt = await this.#options.ports.store.release(claim, options);
      if (receipt.released) this.#disown();
      return receipt;
    } catch (error) {
      // The store may have acted: from now on another process may own the session.
      this.#disown();
      throw error;
    }
  }

  /** Releases the claim, so that others need not wait for the lease; a failure is ignored. */
  async #releaseAfterFailure(claim: Claim, failure: unknown): Promise<ReleaseReceipt> {
    this.#disown();
    if (!isAdjutantError(failure, 'ledger_conflict'))
      await this.#options.ports.store.release(claim).catch(() => undefined);
    throw failure;
  }

  #disown(): void {
    this.#claim = undefined;
    this.#end = Number.NEGATIVE_INFINITY;
  }

  /** Explains a conflict: a ledger that is no longer there was deleted, not taken over. */
  async explained(error: unknown): Promise<unknown> {
    const session = this.#claim?.session;
    if (session === undefined || !isAdjutantError(error, 'ledger_conflict')) return error;
    const isGone = await this.#options.ports.store.head(session).then(
      (head) => head === undefined,
      () => false,
    );
    return isGone ? new SessionDeletedError({ session }) : error;
  }
}
