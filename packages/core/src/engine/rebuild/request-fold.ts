import type { JsonObject } from '../../base/json.ts';
import { isDecision } from '../../ledger/decisions/decision.ts';
import type { Actor, Event, EventOf } from '../../ledger/event.ts';
import { pendingRequestOf } from '../../ledger/folds/request-fold.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { parentOf } from '../../ledger/path.ts';
import type { InboxEntry, RequestRow, RequestStatus } from '../../ledger/port.ts';

/** All requests that one ledger has made, with what became of them. */
export class RequestsOfLedger {
  readonly #rows = new Map<string, RequestRow>();
  /** Requests that were withdrawn, by the time of the append that did so. */
  readonly #withdrawn = new Map<number, string[]>();

  constructor(ledger: Ledger) {
    for (const event of ledger.events)
      if (event.type === 'tool_yield') this.#ask(ledger, event);
      else this.#add(event);
  }

  /** A request of the ledger that this one is a copy of is answered there. */
  #ask(ledger: Ledger, event: EventOf<'tool_yield'>): void {
    const { callId, generation, requestId } = event;
    if (requestId !== ledger.requestId(callId, generation) || this.#rows.has(requestId)) return;
    const draft = pendingRequestOf(ledger.whole(event), ledger.session, ledger.user);
    this.#rows.set(requestId, { ...draft, status: 'pending' });
  }

  #add(event: Event): void {
    if (event.type === 'tool_input') {
      const { answeredAt, at, by, decision, requestId } = event;
      this.#settle(requestId, statusBy(decision), by, answeredAt ?? at);
    } else if (isDecision(event, 'request', 'withdraw')) {
      const id = event.data?.requestId ?? '';
      if (this.#settle(id, 'withdrawn', 'runtime', event.at))
        this.#withdrawn.set(event.at, [...(this.#withdrawn.get(event.at) ?? []), id]);
    } else if (isDecision(event, 'inbox', 'refuse')) {
      // The post of a refused answer has settled the request all the same.
      const { by, requestId }: JsonObject = event.data ?? {};
      if (typeof requestId === 'string')
        this.#settle(requestId, 'answered', (by ?? 'user') as Actor, event.at);
    } else if (event.type === 'tool_result' && event.settled)
      this.#settleAll(event.at, 'cancelled', ({ callId }) => callId === event.callId);
    else if (event.type === 'invocation_end') this.#end(event);
  }

  #end({ at, invocationId, status }: EventOf<'invocation_end'>): void {
    const isCancelled = status === 'cancelled';
    const how = isCancelled ? 'cancelled' : 'withdrawn';
    this.#settleAll(at, how, (row) => row.invocationId === invocationId);
    if (!isCancelled) return;
    // Those below it were withdrawn in the same append.
    for (const id of this.#withdrawn.get(at) ?? []) {
      const row = this.#rows.get(id);
      if (row !== undefined && isBelow(row.invocationId, invocationId))
        this.#rows.set(id, { ...row, status: 'cancelled' });
    }
  }

  #settleAll(at: number, status: RequestStatus, isMeant: (row: RequestRow) => boolean): void {
    for (const row of this.#rows.values())
      if (row.status === 'pending' && isMeant(row))
        this.#settle(row.requestId, status, 'runtime', at);
  }

  #settle(id: string, status: RequestStatus, settledBy: Actor, settledAt: number): boolean {
    const row = this.#rows.get(id);
    if (row?.status !== 'pending') return false;
    this.#rows.set(id, { ...row, status, settledBy, settledAt });
    return true;
  }

  /** Applies an item that nobody has drained. */
  post({ at, by, settles }: InboxEntry): void {
    if (settles !== undefined) this.#settle(settles, 'answered', by, at);
  }

  rows(): readonly RequestRow[] {
    return [...this.#rows.values()];
  }
}

function statusBy(decision: EventOf<'tool_input'>['decision']): RequestStatus {
  if (decision === 'escalate') return 'escalated';
  return decision === 'expire' ? 'expired' : 'answered';
}

function isBelow(path: string, above: string): boolean {
  for (let at = path; at !== ''; at = parentOf(at)) if (at === above) return true;
  return false;
}
