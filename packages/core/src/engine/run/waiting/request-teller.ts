import type { Clock } from '../../../base/clock.ts';
import { requestDecision } from '../../../effects/request/question.ts';
import { isDecision } from '../../../ledger/decisions/decision.ts';
import type { EventDraft, EventOf } from '../../../ledger/event.ts';
import { laneAt } from '../../../ledger/folds/lanes.ts';
import { firstSleepEnd } from '../../../ledger/folds/sleeps.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import type { TellsRequests } from '../../frame/tells-requests.ts';
import { openLanes } from '../root-run.ts';
import { firstExpiry } from './expiry.ts';
import { messageExpiry } from './message-expiry.ts';

/** Pause in milliseconds before a request is told again, at first and at most. */
const firstPauseMs = 10_000;
const longestPauseMs = 600_000;

/** Open requests of people that the ledger does not say were told; of one lane, or of all. */
function untoldRequests(ledger: Ledger, lane?: string): readonly EventOf<'tool_yield'>[] {
  const open = [...ledger.requests.values()].filter(
    (request) =>
      isForPerson(request) &&
      (lane === undefined || laneAt(ledger.invocations, request.invocationId) === lane),
  );
  const since = Math.min(...open.map(({ seq }) => seq));
  const told = new Set<unknown>();
  for (let seq = since; seq <= ledger.lastSeq; seq++) {
    const event = ledger.events[seq - 1];
    if (isDecision(event, 'request', 'notify')) told.add(event.data?.requestId);
  }
  // A copied ledger makes the requests of its original anew.
  return open.filter(
    ({ requestId, callId, generation }) =>
      !told.has(requestId) && requestId === ledger.requestId(callId, generation),
  );
}

/** False when the result of an operation is awaited: its tool has told another system. */
function isForPerson({ kind }: EventOf<'tool_yield'>): boolean {
  return kind !== 'result';
}

/** Pause that is as long as the request has waited already: each one doubles that time. */
function pauseOf({ at }: EventOf<'tool_yield'>, now: number): number {
  return Math.min(Math.max(now - at, firstPauseMs), longestPauseMs);
}

/**
 * Time in epoch milliseconds at which a waiting session needs a process again: when a request, or
 * the wait for a message, expires, when a sleep ends, or when a request is to be told that may not
 * have been. `null` when there is none.
 * @param lane only waits of this lane count
 */
export function nextWake(
  ledger: Ledger,
  telling: TellsRequests | undefined,
  lane?: string,
): number | null {
  const sleep = firstSleepEnd(ledger.invocations, lane);
  const lanes = lane === undefined ? openLanes(ledger) : [lane];
  const messages = lanes.map((one) => messageExpiry(ledger, one));
  const next = earliest(firstExpiry(ledger, lane), ...messages, sleep);
  if (telling === undefined || ledger.requests.size === 0) return next;
  const now = ledger.ports.clock.now();
  return earliest(next, ...untoldRequests(ledger, lane).map((one) => now + pauseOf(one, now)));
}

/** The first of several times; `null` when there is none. */
export function earliest(...times: readonly (number | null | undefined)[]): number | null {
  const first = Math.min(...times.map((time) => time ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(first) ? first : null;
}

/** The note in the ledger that the app was told of a request. */
export function notifiedDraft(requestId: string): EventDraft {
  const { invocationId: _, ...draft } = requestDecision(
    '',
    'notify',
    'The app was told that this waits for somebody.',
    { requestId },
  );
  return draft;
}

/**
 * Tells the app of the requests of a lane while this process holds its session. The run does not
 * wait for that. What was told is noted in the ledger; what was not is told by the next holder.
 */
export class RequestTeller {
  readonly #ledger: Ledger;
  readonly #lane: string;
  readonly #clock: Clock;
  readonly #telling: TellsRequests;
  readonly #isReleasing: () => boolean;
  readonly #cancels = new Map<string, () => void>();
  #forget: () => void = () => undefined;
  #isStopped = false;

  /** @param isReleasing true when the run is about to release the session */
  constructor(
    ledger: Ledger,
    lane: string,
    clock: Clock,
    telling: TellsRequests,
    isReleasing: () => boolean,
  ) {
    this.#ledger = ledger;
    this.#lane = lane;
    this.#clock = clock;
    this.#telling = telling;
    this.#isReleasing = isReleasing;
  }

  /** Tells the requests that were not told, and from now on those that are made. */
  start(): void {
    this.#forget = this.#ledger.onDraft((event) => {
      if (event.type === 'tool_yield' && isForPerson(event) && this.#isOwn(event))
        void this.#tell(event);
    });
    for (const request of untoldRequests(this.#ledger, this.#lane)) void this.#tell(request);
  }

  stop(): void {
    this.#isStopped = true;
    this.#forget();
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  #isOwn({ invocationId }: EventOf<'tool_yield'>): boolean {
    return laneAt(this.#ledger.invocations, invocationId) === this.#lane;
  }

  async #tell(request: EventOf<'tool_yield'>): Promise<void> {
    const { requestId } = request;
    const { session } = this.#ledger;
    try {
      // Nobody is told of a request that a crash would undo.
      await this.#ledger.durable();
    } catch {
      return;
    }
    const outcome = await this.#telling.tell(session, requestId);
    if (outcome === 'failed') return this.#later(request);
    if (outcome !== 'told') return;
    if (this.#isHeld) this.#note(requestId);
    else await this.#telling.note(session, requestId);
  }

  #note(requestId: string): void {
    this.#ledger.append([notifiedDraft(requestId)]);
    // The time that was set for telling it again is not needed any more.
    if (this.#isReleasing())
      this.#ledger.append([], { wakeAt: nextWake(this.#ledger, this.#telling) });
  }

  get #isHeld(): boolean {
    const { lease, failure } = this.#ledger;
    return !this.#isStopped && lease.claim !== undefined && failure === undefined;
  }

  #later(request: EventOf<'tool_yield'>): void {
    if (this.#isStopped) return;
    const again = (): void => {
      this.#cancels.delete(request.requestId);
      if (this.#ledger.requests.has(request.requestId)) void this.#tell(request);
    };
    const pause = pauseOf(request, this.#clock.now());
    this.#cancels.set(request.requestId, this.#clock.setTimer(pause, again));
  }
}
