import type { Actor } from '../../ledger/event.ts';
import type {
  RequestDraft,
  RequestFilter,
  RequestRow,
  RequestSettlement,
} from '../../ledger/port.ts';
import { checkAnswer, checkSettlement, isRequested } from '../requests.ts';
import { copyJson } from './json.ts';

/** The requests of one tenant and app in memory. */
export class MemoryRequests {
  readonly #rows = new Map<string, RequestRow>();

  /** Adds requests; one that exists already stays unchanged. */
  open(requests: readonly RequestDraft[]): void {
    for (const request of requests) {
      if (!this.#rows.has(request.requestId))
        this.#rows.set(request.requestId, copyJson<RequestRow>({ ...request, status: 'pending' }));
    }
  }

  /** @throws RequestNotFoundError, RequestSettledError */
  answer(session: string, requestId: string, by: Actor, now: number): void {
    checkAnswer(session, requestId, this.#rows.get(requestId), now);
    this.#write({ requestId, status: 'answered', by }, now);
  }

  /** @throws RequestNotFoundError, RequestSettledError */
  settle(session: string, settlement: RequestSettlement, now: number): void {
    if (checkSettlement(session, settlement, this.#rows.get(settlement.requestId)))
      this.#write(settlement, now);
  }

  /** Settles requests of a session that are still pending. */
  settlePending(session: string, settlements: readonly RequestSettlement[], now: number): void {
    for (const settlement of settlements) {
      const row = this.#rows.get(settlement.requestId);
      if (row?.session === session && row.status === 'pending') this.#write(settlement, now);
    }
  }

  list(filter: RequestFilter, limit: number): readonly RequestRow[] {
    const { after } = filter;
    return Array.from(this.#rows.values())
      .filter(
        (row) =>
          isRequested(row, filter) && (after === undefined || compareRequests(after, row) < 0),
      )
      .sort(compareRequests)
      .slice(0, limit);
  }

  replace(session: string, rows: readonly RequestRow[]): void {
    this.forget(session);
    for (const row of rows) this.#rows.set(row.requestId, copyJson(row));
  }

  forget(session: string): void {
    for (const row of this.#rows.values())
      if (row.session === session) this.#rows.delete(row.requestId);
  }

  #write({ requestId, status, by }: RequestSettlement, now: number): void {
    this.#rows.set(
      requestId,
      Object.freeze({
        ...(this.#rows.get(requestId) as RequestRow),
        status,
        settledBy: by,
        settledAt: now,
      }),
    );
  }
}

type RequestPlace = Pick<RequestRow, 'createdAt' | 'requestId'>;

/** Orders requests by their creation; equal times by id. */
function compareRequests(left: RequestPlace, right: RequestPlace): number {
  if (left.createdAt !== right.createdAt) return left.createdAt - right.createdAt;
  if (left.requestId === right.requestId) return 0;
  return left.requestId < right.requestId ? -1 : 1;
}
