import type { Clock } from '../../base/clock.ts';
import { describeValue } from '../../base/options.ts';
import { RequestNotFoundError } from '../../ledger/errors.ts';
import type { LedgerStore, RequestFilter, RequestRow } from '../../ledger/port.ts';
import { syncClock } from '../../ledger/store-clock.ts';
import { InvalidAnswerError, OperationAmbiguousError } from './errors.ts';

/** Rows of the requests in a store, read with the store's clock, by which they expire. */
export class RequestRows {
  readonly #ledgers: () => LedgerStore;
  readonly #clock: Clock;

  constructor(ledgers: () => LedgerStore, clock: Clock) {
    this.#ledgers = ledgers;
    this.#clock = clock;
  }

  /** @returns `undefined` when no request fits */
  async read(filter: RequestFilter): Promise<RequestRow | undefined> {
    const ledgers = this.#ledgers();
    await syncClock(this.#clock, ledgers);
    const [row] = await ledgers.requests({ ...filter, limit: 1 });
    return row;
  }

  /** @throws RequestNotFoundError, InvalidAnswerError for an id that is no text */
  async find(requestId: string): Promise<RequestRow> {
    if (typeof requestId !== 'string')
      throw new InvalidAnswerError({
        reason: 'a request is named by its `requestId`, a text, not by ' + describeValue(requestId),
      });
    const row = await this.read({ requestId });
    if (row !== undefined) return row;
    throw new RequestNotFoundError({ requestId }, requestId.includes('/'));
  }

  /**
   * Finds the request of the call that waits for an operation; when none waits, the last one.
   * @throws RequestNotFoundError, OperationAmbiguousError
   */
  async findOperation(operationId: string): Promise<RequestRow> {
    const ledgers = this.#ledgers();
    await syncClock(this.#clock, ledgers);
    const rows = await ledgers.requests({ operationId });
    const pending = rows.filter(({ status }) => status === 'pending');
    if (pending.length > 1)
      throw new OperationAmbiguousError({
        operationId,
        requestIds: pending.map(({ requestId }) => requestId),
      });
    const row = pending[0] ?? rows.at(-1);
    if (row === undefined) throw new RequestNotFoundError({ requestId: operationId });
    return row;
  }

  /** Checks that the same call has another pending request. */
  async isAskedAgain({ status, session, callId, requestId }: RequestRow): Promise<boolean> {
    if (status === 'pending') return false;
    const pending = await this.#ledgers().requests({ session, status: 'pending' });
    return pending.some((other) => other.callId === callId && other.requestId !== requestId);
  }
}
