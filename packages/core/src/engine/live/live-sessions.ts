import { isAdjutantError } from '../../base/error.ts';
import type { Host } from '../../base/host.ts';
import { findInvalidOption, type OptionChecks } from '../../base/options.ts';
import { SeqOutOfRangeError, SessionNotFoundError } from '../../ledger/errors.ts';
import type { StreamEvent } from '../../ledger/event.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerStore, Store } from '../../ledger/port.ts';
import type { StreamedRun } from '../frame/app-services.ts';
import { InvalidRunError } from '../frame/errors.ts';
import { Demand, Exchange, liveKey } from './exchange.ts';
import type { LiveMessage } from './live-message.ts';
import { type AnswerMark, LiveSender, LiveText } from './live-text.ts';
import type { PubSub } from './pub-sub.ts';
import { SessionFeed } from './session-feed.ts';

export interface FollowOptions {
  /** Sequence number of the last event that the follower knows. @default 0 */
  readonly after?: number;
  /** Ends the following. */
  readonly signal?: AbortSignal;
  /**
   * Answers that began or ended among the events up to `after`, for followers that got these by
   * other means in the same connection. Text of an answer that has ended is not sent, and an answer
   * that begins anew is not reset.
   * @default none: the follower may have lost another connection in the middle of an answer
   */
  readonly told?: readonly AnswerMark[];
}

interface Scope {
  readonly tenant: string;
  readonly app: string;
}

interface LiveSession {
  readonly feed: SessionFeed;
  /** Number of runs of this process on the session. */
  writers: number;
}

const followChecks: OptionChecks<FollowOptions> = {
  after: (value) =>
    Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : 'a whole number from 0',
  signal: (value) => (value instanceof AbortSignal ? undefined : 'an AbortSignal'),
  told: (value) => (Array.isArray(value) ? undefined : 'a list of marks'),
};

/**
 * Live text in the sessions of one store, as far as this process knows it: of its own runs and,
 * with a `PubSub`, of other processes.
 */
export class LiveSessions {
  readonly #sessions = new Map<string, LiveSession>();
  readonly #exchange: Exchange | undefined;
  readonly #host: Host;
  readonly #name: string;
  #isKept: boolean;

  constructor(host: Host, pubsub: PubSub | undefined) {
    this.#host = host;
    this.#name = host.ids.next();
    this.#exchange = pubsub === undefined ? undefined : new Exchange(pubsub, host);
    this.#isKept = pubsub !== undefined;
  }

  /** Begins to keep the streamed text of runs for later followers. */
  keep(): void {
    this.#isKept = true;
  }

  /**
   * Calls back when another process has stopped a run without ending it. Returns a function that
   * ends it. Without a `PubSub`, nothing is heard.
   */
  onReleased(app: string, listener: () => void): () => void {
    return this.#exchange?.onReleased(app, listener) ?? (() => undefined);
  }

  /** Tells other processes that there is something to work on. */
  announceWork(app: string): void {
    this.#exchange?.announceRelease(app);
  }

  /**
   * Passes the stream events of a run of this process to followers. Returns a function that ends
   * it.
   */
  publishStream(scope: Scope, run: StreamedRun, ledger: Ledger): () => void {
    if (!this.#isKept) return () => undefined;
    const { session, ports } = ledger;
    const key = liveKey(scope, session);
    const entry = this.#entry(key, session, ports.store);
    const { live } = entry.feed;
    entry.writers++;
    // Live text of another process is over, because this process has the session now.
    if (entry.writers === 1) live.clear();
    const sending =
      this.#exchange === undefined ? undefined : new Sending(this.#exchange, key, live);
    // As soon as an answer is complete, and not only when it is durable: the next one may begin
    // before that.
    const forgetDrafts = ledger.onDraft((event) => live.landed(event));
    const forget = run.listenToParts((event) => {
      if (!live.streamed(event, ledger.lastSeq)) return;
      entry.feed.wake();
      sending?.wake();
    });
    return () => {
      forgetDrafts();
      forget();
      sending?.end();
      run.catch((error: unknown) => {
        if (isAdjutantError(error, 'run_stopped')) this.#exchange?.announceRelease(scope.app);
      });
      entry.writers--;
      if (entry.writers === 0) live.clear();
      this.#drop(key, entry);
    };
  }

  /**
   * Follows the durable events of a session after a place, as they land, and the live text between
   * them.
   * @throws InvalidRunError, SessionNotFoundError, SeqOutOfRangeError, and errors of the store
   */
  async *follow(
    scope: Scope,
    store: LedgerStore,
    session: string,
    options: FollowOptions,
  ): AsyncGenerator<StreamEvent, void, undefined> {
    const invalid = findInvalidOption(options, followChecks);
    if (invalid !== undefined)
      throw new InvalidRunError({
        refused: 'The session cannot be followed',
        reason: invalid.reason,
      });
    const { after = 0, signal = neverAborted, told = [] } = options;
    this.keep();
    const head = await store.head(session);
    if (head === undefined) throw new SessionNotFoundError({ session, app: scope.app });
    if (after > head.seq) throw new SeqOutOfRangeError({ seq: after, last: head.seq });
    const key = liveKey(scope, session);
    yield* this.#entry(key, session, store).feed.follow(after, head.seq, signal, told);
  }

  #entry(key: string, session: string, store: LedgerStore): LiveSession {
    const known = this.#sessions.get(key);
    if (known !== undefined) return known;
    let end: () => void = () => undefined;
    const feed: SessionFeed = new SessionFeed(
      session,
      store,
      new LiveText(this.#name),
      this.#host.turns,
      (isFollowed) => {
        end();
        end = isFollowed ? this.#receive(key, made) : () => undefined;
        if (!isFollowed) this.#drop(key, made);
      },
    );
    const made: LiveSession = { feed, writers: 0 };
    this.#sessions.set(key, made);
    return made;
  }

  /** Receives the live text of other processes while this process has followers of the session. */
  #receive(key: string, entry: LiveSession): () => void {
    if (this.#exchange === undefined) return () => undefined;
    const { feed } = entry;
    const { name } = this.#exchange;
    let writer: string | undefined;
    let isAsking = false;
    const { ask, end } = this.#exchange.follow(key, ({ from, parts, reports }: LiveMessage) => {
      if (from === name || entry.writers > 0) return;
      if (writer !== from) feed.live.clear();
      writer = from;
      const misses = parts.map((part) => feed.live.received(part)).includes(true);
      for (const report of reports) feed.live.reported(report);
      feed.wake();
      if (misses && !isAsking) ask();
      isAsking = misses;
    });
    return end;
  }

  #drop(key: string, entry: LiveSession): void {
    if (entry.writers === 0 && !entry.feed.isFollowed && this.#sessions.get(key) === entry)
      this.#sessions.delete(key);
  }
}

const neverAborted = new AbortController().signal;

/**
 * Sends the live text of a run to processes that ask for it. While a message is under way, new text
 * is joined.
 */
class Sending {
  readonly #exchange: Exchange;
  readonly #key: string;
  readonly #live: LiveText;
  readonly #sender = new LiveSender();
  readonly #demand: Demand;
  readonly #forget: () => void;
  #isSending = false;
  #isEnded = false;

  constructor(exchange: Exchange, key: string, live: LiveText) {
    this.#exchange = exchange;
    this.#demand = new Demand(exchange.clock);
    this.#key = key;
    this.#live = live;
    this.#forget = exchange.answer(key, () => {
      this.#demand.asked();
      this.#sender.restart();
      this.wake();
    });
  }

  wake(): void {
    if (!this.#isSending && this.#demand.isThere) void this.#send();
  }

  end(): void {
    this.#isEnded = true;
    this.#forget();
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    for (;;) {
      const news = this.#sender.take(this.#live);
      if (this.#isEnded || (news.parts.length === 0 && news.reports.length === 0)) break;
      await this.#exchange.send(this.#key, news);
    }
    this.#isSending = false;
  }
}

/**
 * Live sessions by store. A process may have several apps on one store object, and an app several
 * tenants. Followers of one see the runs of another.
 */
const known = new WeakMap<Store, Map<PubSub | undefined, LiveSessions>>();

/** Returns the live sessions of a store. */
export function liveSessionsOf(store: Store, pubsub: PubSub | undefined, host: Host): LiveSessions {
  const byPubSub = known.get(store) ?? new Map<PubSub | undefined, LiveSessions>();
  known.set(store, byPubSub);
  const found = byPubSub.get(pubsub) ?? new LiveSessions(host, pubsub);
  byPubSub.set(pubsub, found);
  return found;
}
