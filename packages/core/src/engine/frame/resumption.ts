import type { Clock } from '../../base/clock.ts';
import { isFromOutside } from '../../ledger/actor.ts';
import type { Event } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { belongsTo } from '../../ledger/path.ts';
import { changesGrants } from './grants.ts';

/** State of the ledger as a run began or was resumed here. */
export class Resumption {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  /** `seq` of the last event before. */
  readonly #seqBefore: number;
  /**
   * Paths of the invocations whose resume marks ended the ledger. Nothing has come of them.
   */
  readonly #resumedInVain = new Set<string>();

  constructor(ledger: Ledger, clock: Clock) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#seqBefore = ledger.lastSeq;
    for (let seq = ledger.lastSeq; seq > 0; seq--) {
      const event = ledger.events[seq - 1];
      if (event?.type !== 'invocation_resume') break;
      this.#resumedInVain.add(event.invocationId);
    }
  }

  /**
   * Returns the milliseconds since the last work on an invocation. A posted event is no work, nor
   * is another yield: a process that takes in an answer of a paused run only yields again. A yield
   * that a later process recorded tells nothing of the time.
   */
  idleTime(path: string): number {
    const { events } = this.#ledger;
    let since: number | undefined;
    for (let seq = this.#seqBefore; seq > 0; seq--) {
      const event = events[seq - 1] as Event;
      // The resume mark of another invocation below, such as a dispatched child, is no work on this
      // one.
      const isOthersMark = event.type === 'invocation_resume' && event.invocationId !== path;
      if (!belongsTo(event.invocationId, path) || isPosted(event) || isOthersMark) continue;
      if (event.type === 'invocation_yield' && event.late === true) continue;
      if (since === undefined || event.type === 'invocation_yield') since = event.at;
      if (event.type !== 'invocation_yield') break;
    }
    return since === undefined ? 0 : Math.max(0, this.#clock.now() - since);
  }

  /**
   * True when a tool call waited for its children as the run was released. False when it was at
   * work: its process was stopped. The yields of a waiting run are the last that it records.
   */
  wasWaiting(callId: string): boolean {
    const { events } = this.#ledger;
    for (let seq = this.#seqBefore; seq > 0; seq--) {
      const event = events[seq - 1] as Event;
      const place = 'callId' in event ? event.callId : event.invocationId;
      if (!belongsTo(place, callId) && !belongsTo(event.invocationId, callId)) continue;
      if (isPosted(event) || event.type === 'invocation_resume') continue;
      return event.type === 'invocation_yield';
    }
    return false;
  }

  /**
   * True when the ledger ended with the resume mark of this invocation. Another mark at each failed
   * try would only make the ledger longer.
   */
  isResumedAlready(path: string): boolean {
    return this.#resumedInVain.has(path);
  }
}

/** True when an event came from outside, independent of the process that worked on the session. */
function isPosted(event: Event): boolean {
  switch (event.type) {
    case 'user':
    case 'tool_input':
    case 'cancel':
    case 'invocation_reopen':
      return true;
    case 'decision':
      return (
        event.component === 'inbox' ||
        event.component === 'request' ||
        event.component === 'run' ||
        changesGrants(event)
      );
    case 'tool_result':
      return event.late === true || isFromOutside(event.by);
    default:
      return false;
  }
}
