import type { ServiceHistory } from '../../engine/services/service-history.ts';
import { isDecision } from '../../ledger/decisions/decision.ts';
import { InvalidCursorError } from '../../ledger/errors.ts';
import type { Event } from '../../ledger/event.ts';
import type { Notice } from '../notice.ts';
import type { AcceptedNotice } from './notifier-state.ts';

/** One attempt to send a notice. */
export interface NoticeAttempt {
  readonly channel: string;
  /** Epoch milliseconds at which it began. */
  readonly at: number;
  /**
   * `open`: it goes on, or its process ended during it. `unknown`: it failed, and the notice may
   * have been sent all the same.
   */
  readonly outcome: 'open' | 'sent' | 'failed' | 'unknown';
  /** Reason of a failure, as a sentence. */
  readonly error?: string;
}

/** A notice of a user, and what has become of it. */
export interface ListedNotice extends Omit<Notice, 'tenant' | 'joins'> {
  /** Names of the channels that it is meant for. @default all of the app */
  readonly channels?: readonly string[];
  /** Epoch milliseconds at which it came in. */
  readonly at: number;
  /** `sending`: an attempt has begun, and the notice is neither sent nor dropped. */
  readonly status: 'waiting' | 'sending' | 'sent' | 'dropped';
  /** Epoch milliseconds at which it was sent or dropped. */
  readonly settledAt?: number;
  /** Reason why it was dropped, such as `expired`, `failed` or `request_settled`. */
  readonly reason?: string;
  readonly attempts: readonly NoticeAttempt[];
}

/** A page of the notices of a user. */
export interface ListedNotices {
  readonly notices: readonly ListedNotice[];
  /** Gives the next page; missing on the last one. */
  readonly cursor?: string;
}

/** Place of a notice: the number of the session that took it in, and its event there. */
interface Place {
  readonly number: number;
  readonly seq: number;
}

/** Notices of one recipient, read from all sessions that they have had. */
export class NoticeList {
  readonly #history: ServiceHistory;

  constructor(history: ServiceHistory) {
    this.#history = history;
  }

  /**
   * Reads a page, the newest notice first.
   * @throws InvalidCursorError, StoreUnavailableError
   */
  async page(limit: number, cursor?: string): Promise<ListedNotices> {
    const first = { number: this.#history.newest, seq: Number.POSITIVE_INFINITY };
    let place = cursor === undefined ? first : readCursor(cursor, this.#history.newest);
    const found: NoticeFold[] = [];
    while (place.number > 0 && found.length <= limit) {
      const { number, seq } = place;
      const older = (await this.#takenIn(number)).filter((notice) => notice.place.seq < seq);
      const wanted = older.reverse().slice(0, limit + 1 - found.length);
      await this.#followLater(number, wanted);
      found.push(...wanted);
      place = { number: number - 1, seq: Number.POSITIVE_INFINITY };
    }
    const page = found.slice(0, limit);
    const notices = page.map(({ listed }) => listed);
    const last = found.length > limit ? page.at(-1) : undefined;
    return { notices, ...(last === undefined ? {} : { cursor: writeCursor(last.place) }) };
  }

  /** Notices that a session took in, in that order, as far as that session knows of them. */
  async #takenIn(number: number): Promise<NoticeFold[]> {
    const found: NoticeFold[] = [];
    const current = new Map<string, NoticeFold>();
    for await (const event of this.#history.events(number)) {
      const notice = acceptedBy(event);
      if (notice !== undefined) {
        const made = new NoticeFold(notice, event.at, { number, seq: event.seq });
        current.set(notice.id, made);
        found.push(made);
      } else tell(current, event);
    }
    return found;
  }

  /** Follows notices that were not settled when their session ended in the later sessions. */
  async #followLater(number: number, notices: readonly NoticeFold[]): Promise<void> {
    const open = new Map(
      notices.filter(({ isSettled }) => !isSettled).map((notice) => [notice.notice.id, notice]),
    );
    for (let later = number + 1; later <= this.#history.newest && open.size > 0; later++) {
      for await (const event of this.#history.events(later)) {
        // A notice that came again under its id, long after the first, is another one.
        const notice = acceptedBy(event);
        if (notice !== undefined) open.delete(notice.id);
        else tell(open, event);
      }
      for (const [id, { isSettled }] of open) if (isSettled) open.delete(id);
    }
  }
}

/** The notice that came in by an event. */
function acceptedBy(event: Event): AcceptedNotice | undefined {
  if (!isDecision(event, 'notifier', 'accept')) return undefined;
  return event.data?.notice as unknown as AcceptedNotice | undefined;
}

/** Folds what happens to one notice. */
class NoticeFold {
  readonly notice: AcceptedNotice;
  readonly place: Place;
  readonly #at: number;
  #attempts: readonly NoticeAttempt[] = [];
  #end: Pick<ListedNotice, 'reason' | 'settledAt'> & { readonly status?: 'sent' | 'dropped' } = {};

  constructor(notice: AcceptedNotice, at: number, place: Place) {
    this.notice = notice;
    this.place = place;
    this.#at = at;
  }

  get isSettled(): boolean {
    return this.#end.status !== undefined;
  }

  get listed(): ListedNotice {
    const { tenant: _, joins: __, ...notice } = this.notice;
    const status = this.#attempts.length === 0 ? 'waiting' : 'sending';
    return { ...notice, at: this.#at, status, ...this.#end, attempts: this.#attempts };
  }

  add(event: Event): void {
    if (event.type !== 'decision' || event.data === undefined) return;
    const { at } = event;
    if (isDecision(event, 'notifier', 'attempt')) {
      const { channel } = event.data;
      this.#attempts = [...this.#attempts, { channel, at, outcome: 'open' }];
    } else if (isDecision(event, 'notifier', 'fail')) {
      const outcome = event.data.effect === 'unknown' ? 'unknown' : 'failed';
      this.#close({ outcome, error: event.reasoning });
    } else if (isDecision(event, 'notifier', 'send')) {
      this.#close({ outcome: 'sent' });
      this.#end = { status: 'sent', settledAt: at };
    } else if (isDecision(event, 'notifier', 'drop'))
      this.#end = { status: 'dropped', settledAt: at, reason: event.data.reason };
  }

  #close(end: Pick<NoticeAttempt, 'error' | 'outcome'>): void {
    const last = this.#attempts.at(-1);
    if (last !== undefined) this.#attempts = [...this.#attempts.slice(0, -1), { ...last, ...end }];
  }
}

/** Tells the notices that an event names. */
function tell(notices: ReadonlyMap<string, NoticeFold>, event: Event): void {
  if (event.type !== 'decision' || event.component !== 'notifier') return;
  const { notices: named = [] } = (event.data ?? {}) as { readonly notices?: readonly string[] };
  for (const id of named) notices.get(id)?.add(event);
}

function writeCursor({ number, seq }: Place): string {
  return Buffer.from(JSON.stringify([number, seq])).toString('base64url');
}

/** @throws InvalidCursorError */
function readCursor(cursor: string, newest: number): Place {
  const [number, seq] = parsedCursor(cursor);
  const isPlace = Number.isSafeInteger(number) && Number.isSafeInteger(seq);
  if (!isPlace || (number as number) < 1 || (number as number) > newest)
    throw new InvalidCursorError({
      cursor,
      reason: 'it is not one that this list of notices gave',
    });
  return { number: number as number, seq: seq as number };
}

function parsedCursor(cursor: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(parsed) && parsed.length === 2 ? parsed : [];
  } catch {
    return [];
  }
}
