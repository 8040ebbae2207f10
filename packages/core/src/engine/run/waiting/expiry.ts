import type { Clock } from '../../../base/clock.ts';
import { defined } from '../../../base/defined.ts';
import { isAdjutantError } from '../../../base/error.ts';
import type { EventOf } from '../../../ledger/event.ts';
import { laneAt } from '../../../ledger/folds/lanes.ts';
import type { Ledger } from '../../../ledger/ledger.ts';

type Asking = Pick<Ledger, 'requests' | 'requestId' | 'invocations'>;

/**
 * Requests that this ledger has made itself. A copy of a ledger makes the requests of its original
 * anew, and these do not expire here.
 * @param lane only requests of this lane
 */
function* ownRequests(ledger: Asking, lane?: string): Generator<EventOf<'tool_yield'>> {
  for (const request of ledger.requests.values()) {
    const { callId, generation, invocationId, requestId } = request;
    if (lane !== undefined && laneAt(ledger.invocations, invocationId) !== lane) continue;
    if (requestId === ledger.requestId(callId, generation)) yield request;
  }
}

/**
 * Expiry of the first open request in epoch milliseconds; `null` when none expires.
 * @param lane only requests of this lane count
 */
export function firstExpiry(ledger: Asking, lane?: string): number | null {
  let first: number | null = null;
  for (const { expiresAt } of ownRequests(ledger, lane))
    if (expiresAt !== undefined && (first === null || expiresAt < first)) first = expiresAt;
  return first;
}

/**
 * Ends expired requests of a lane while its run is under way. When an answer and an expiry come
 * together, the store lets one win.
 */
export class ExpiryWatch {
  readonly #ledger: Ledger;
  readonly #lane: string;
  readonly #clock: Clock;
  /** Called when a request was answered in time after all. */
  readonly #onAnswered: () => void;
  /**
   * True when the run is about to release the session. The next turn ends the requests that expire
   * then.
   */
  readonly #isReleasing: () => boolean;
  #cancelTimer: () => void = () => undefined;
  #forget: () => void = () => undefined;
  #expiring: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    ledger: Ledger,
    lane: string,
    clock: Clock,
    onAnswered: () => void,
    isReleasing: () => boolean = () => false,
  ) {
    this.#ledger = ledger;
    this.#lane = lane;
    this.#clock = clock;
    this.#onAnswered = onAnswered;
    this.#isReleasing = isReleasing;
  }

  /** Ends the requests that have expired, and from now on those that expire. */
  async start(): Promise<void> {
    this.#forget = this.#ledger.onDraft((event) => {
      if (event.type === 'tool_yield') this.#arm();
    });
    await this.#expireDue();
    this.#arm();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    this.#forget();
    await this.#expiring;
  }

  #arm(): void {
    this.#cancelTimer();
    const at = firstExpiry(this.#ledger, this.#lane);
    if (at === null || this.#stopped || this.#isReleasing()) return;
    this.#cancelTimer = this.#clock.setTimer(at - this.#clock.now(), () => {
      this.#expiring = this.#expireDue()
        .catch((error: unknown) => this.#failed(error))
        .then(() => this.#arm());
    });
  }

  /** Fails the ledger, except when the store does not answer: the next turn asks it again. */
  #failed(error: unknown): void {
    if (!isAdjutantError(error, 'store_unavailable') && this.#ledger.failure === undefined)
      this.#ledger.fail(error);
    this.#stopped = true;
  }

  async #expireDue(): Promise<void> {
    const now = this.#clock.now();
    for (const request of [...ownRequests(this.#ledger, this.#lane)]) {
      if (request.expiresAt !== undefined && request.expiresAt <= now) await this.#expire(request);
    }
  }

  async #expire({
    requestId,
    callId,
    invocationId,
    request,
  }: EventOf<'tool_yield'>): Promise<void> {
    const ledger = this.#ledger;
    if (this.#isReleasing()) return;
    const escalates = request.onExpire === 'escalate' && request.escalateTo !== undefined;
    await ledger.durable();
    try {
      await ledger.ports.store.settle(ledger.session, {
        requestId,
        status: escalates ? 'escalated' : 'expired',
        by: 'runtime',
      });
    } catch (error) {
      if (isAdjutantError(error, 'request_settled')) return this.#onAnswered();
      if (!isAdjutantError(error, 'request_not_found')) throw error;
    }
    if (ledger.failure !== undefined || this.#isReleasing() || !ledger.requests.has(requestId))
      return;
    ledger.append([
      {
        type: 'tool_input',
        by: 'runtime',
        ...defined({ invocationId }),
        callId,
        requestId,
        decision: escalates ? 'escalate' : 'expire',
        reason: 'Nobody answered in time.',
      },
    ]);
  }
}
