import type { Clock } from '../../base/clock.ts';
import { type AdjutantError, isAdjutantError } from '../../base/error.ts';
import { StoreUnavailableError } from '../errors.ts';
import type { AppendReceipt, Batch, Claim, LedgerStore, SharedValue } from '../port.ts';
import type { BatchBlob } from './batch.ts';

/** Least number of sends of a batch before the writer fails, even when the lease is over. */
const leastSends = 4;
const firstResendDelayMs = 50;
const longestResendDelayMs = 2_000;

/** The writer on whose behalf the store is called. */
export interface StoreCaller {
  readonly store: LedgerStore;
  /** The clock of the process: delays of resends are real time, also under a test clock. */
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Sequence number of the last durable event. */
  readonly durableSeq: () => number;
  readonly leaseIsLive: () => boolean;
  /** The reason why the writer failed, if it has. */
  readonly failure: () => { readonly error: unknown } | undefined;
  /** Runs a call that prolongs the lease. */
  readonly prolong: (ask: () => Promise<AppendReceipt>) => Promise<AppendReceipt>;
}

/** Calls of a store that are repeated as long as it does not answer. */
export class PersistentStore {
  readonly #caller: StoreCaller;

  constructor(caller: StoreCaller) {
    this.#caller = caller;
  }

  /**
   * Appends a batch. An append that failed without an answer may have landed, and its events have
   * happened. So the very same batch is sent again, which the store recognises, while the lease
   * lives.
   */
  async append(claim: Claim, batch: Batch, blobs: readonly BatchBlob[]): Promise<AppendReceipt> {
    const { clock, store, leaseMs, durableSeq, leaseIsLive, failure, prolong } = this.#caller;
    const expected = { seq: durableSeq(), epoch: claim.epoch };
    // `leaseIsLive` goes by the clock port. Where that stands still, `end` stops the resends.
    const end = clock.monotonic() + leaseMs;
    for (let sent = 1; ; sent++) {
      try {
        return await prolong(() => store.append(claim.session, expected, batch));
      } catch (error) {
        const blobIsMissing = isAdjutantError(error, 'blob_missing') && blobs.length > 0;
        if (!blobIsMissing && !mayPass(error)) throw error;
        const goesOn = !blobIsMissing && leaseIsLive() && clock.monotonic() < end;
        if (sent >= leastSends && !goesOn)
          throw isAdjutantError(error) ? error : unanswered(claim.session, sent, error);
        await resendDelay(clock, sent);
        if (failure() !== undefined) throw error;
        if (blobIsMissing) await this.#putAgain(blobs);
      }
    }
  }

  /** Puts blobs again. A put that fails too makes the next append fail. */
  async #putAgain(blobs: readonly BatchBlob[]): Promise<void> {
    await Promise.allSettled(
      blobs.map(({ address, bytes }) => this.#caller.store.putBlob(bytes, address)),
    );
  }

  /**
   * Reads the stored values of the scope of a conflict.
   * @throws the error of the store when it does not answer several times
   */
  async readShared({ data }: AdjutantError): Promise<Readonly<Record<string, SharedValue>>> {
    const { scope, scopeId } = data as { scope: string; scopeId: string };
    const { clock, failure, store } = this.#caller;
    for (let asked = 1; ; asked++) {
      try {
        const stored = await store.readShared(scope, scopeId);
        const failed = failure();
        if (failed !== undefined) throw failed.error;
        return stored;
      } catch (error) {
        if (failure() !== undefined || !mayPass(error) || asked >= leastSends) throw error;
        await resendDelay(clock, asked);
      }
    }
  }
}

function resendDelay(clock: Clock, sent: number): Promise<void> {
  const delay = Math.min(firstResendDelayMs * 2 ** (sent - 1), longestResendDelayMs);
  return new Promise<void>((resolve) => clock.setTimer(delay, resolve));
}

/**
 * Checks that the same call may succeed later. Errors that are not Adjutant's come from the way to
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
