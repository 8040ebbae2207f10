import type { Clock } from '../../base/clock.ts';
import { isAdjutantError } from '../../base/error.ts';
import type { EventOf } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';

type Asking = Pick<Ledger, 'requests' | 'requestId'>;

/**
 * Questions that this ledger has asked itself; those of the one that it is a copy of are asked
 * anew, and do not expire here.
 */
function* ownRequests(ledger: Asking): Generator<EventOf<'tool_yield'>> {
  for (const request of ledger.requests.values()) {
    if (request.requestId === ledger.requestId(request.callId, request.generation)) yield request;
  }
}

/** When the first of the open questions is over, in epoch milliseconds; `null`: none ever is. */
export function firstExpiry(ledger: Asking): number | null {
  let first: number | null = null;
  for (const { expiresAt } of ownRequests(ledger))
    if (expiresAt !== undefined && (first === null || expiresAt < first)) first = expiresAt;
  return first;
}

/**
 * Ends questions whose time is over, while a run is under way. Of an answer and an expiry at one
 * moment the store lets one win.
 */
export class ExpiryWatch {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  /** Called when somebody answered in time after all. */
  readonly #onAnswered: () => void;
  /**
   * Whether the run is about to give the session back: what is over then is ended in its next turn.
   */
  readonly #isParked: () => boolean;
  #cancelTimer: () => void = () => undefined;
  #forget: () => void = () => undefined;
  #expiring: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    ledger: Ledger,
    clock: Clock,
    onAnswered: () => void,
    isParked: () => boolean = () => false,
  ) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#onAnswered = onAnswered;
    this.#isParked = isParked;
  }

  /** Ends what is over already, and from now on what becomes so. */
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
    const at = firstExpiry(this.#ledger);
    if (at === null || this.#stopped || this.#isParked()) return;
    this.#cancelTimer = this.#clock.setTimer(at - this.#clock.now(), () => {
      this.#expiring = this.#expireDue()
        .catch((error: unknown) => this.#failed(error))
        .then(() => this.#arm());
    });
  }

  /** A store that does not answer is asked again when the run is taken up the next time. */
  #failed(error: unknown): void {
    if (!isAdjutantError(error, 'store_unavailable') && this.#ledger.failure === undefined)
      this.#ledger.fail(error);
    this.#stopped = true;
  }

  async #expireDue(): Promise<void> {
    const now = this.#clock.now();
    for (const request of [...ownRequests(this.#ledger)]) {
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
    if (this.#isParked()) return;
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
    if (ledger.failure !== undefined || this.#isParked() || !ledger.requests.has(requestId)) return;
    ledger.append([
      {
        type: 'tool_input',
        by: 'runtime',
        ...(invocationId === undefined ? {} : { invocationId }),
        callId,
        requestId,
        decision: escalates ? 'escalate' : 'expire',
        reason: 'Nobody answered in time.',
      },
    ]);
  }
}
