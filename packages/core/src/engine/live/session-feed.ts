import type { Turns } from '../../base/turns.ts';
import type { Event, StreamEvent } from '../../ledger/event.ts';
import type { LedgerStore } from '../../ledger/port.ts';
import { type AnswerMark, LiveReader, type LiveText } from './live-text.ts';

/** Number of recent events in memory. Followers that are further behind read the store. */
const keptEvents = 64;

interface Follower {
  isAwake: boolean;
  wake: (() => void) | undefined;
  /** Error that ended the following of the store: the follower gets no more events. */
  failure: { readonly error: unknown } | undefined;
}

/** The feed of one session: it follows the store once, for all followers in this process. */
export class SessionFeed {
  readonly live: LiveText;
  readonly #store: LedgerStore;
  readonly #session: string;
  readonly #turns: Turns;
  readonly #followers = new Set<Follower>();
  /** Called when the first follower comes and the last one goes. */
  readonly #onFollowed: (isFollowed: boolean) => void;
  #recent: Event[] = [];
  /** Sequence number of the last known event. */
  #last = 0;
  #pump: AbortController | undefined;

  constructor(
    session: string,
    store: LedgerStore,
    live: LiveText,
    turns: Turns,
    onFollowed: (isFollowed: boolean) => void,
  ) {
    this.#session = session;
    this.#store = store;
    this.live = live;
    this.#turns = turns;
    this.#onFollowed = onFollowed;
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  /** Wakes the followers, because there is something new to stream. */
  wake(): void {
    for (const follower of this.#followers) wakeUp(follower);
  }

  /**
   * Follows the session.
   * @param head sequence number of the last event at the moment
   * @param told answers with a begin or end that the follower knows already, from its connection
   */
  async *follow(
    after: number,
    head: number,
    signal: AbortSignal,
    told: readonly AnswerMark[],
  ): AsyncGenerator<StreamEvent, void, undefined> {
    const follower: Follower = { isAwake: false, wake: undefined, failure: undefined };
    const stop = (): void => wakeUp(follower);
    signal.addEventListener('abort', stop);
    this.#add(follower, head);
    const reader = new LiveReader();
    for (const mark of told) reader.knows(mark);
    try {
      let seq = after;
      while (!signal.aborted) {
        follower.isAwake = false;
        if (follower.failure !== undefined) throw follower.failure.error;
        // Followers that keep up do not read the store.
        const kept = this.#keptAfter(seq);
        if (kept !== undefined) {
          seq = kept.seq;
          reader.passed(kept);
          yield kept;
          continue;
        }
        if (seq < this.#last) {
          for await (const event of this.#storedAfter(seq)) {
            seq = event.seq;
            reader.passed(event);
            yield event;
            if (signal.aborted) return;
            const turn = this.#turns.pass();
            if (turn !== undefined) await turn;
          }
        }
        if (seq >= head) reader.arrived(this.live);
        const event = reader.next(this.live, seq);
        if (event !== undefined) yield event;
        else if (!follower.isAwake && !signal.aborted)
          await new Promise<void>((resolve) => (follower.wake = resolve));
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#remove(follower);
    }
  }

  /** The next durable event, if it is in memory. */
  #keptAfter(seq: number): Event | undefined {
    const first = this.#recent[0]?.seq ?? Number.POSITIVE_INFINITY;
    return seq + 1 >= first ? this.#recent[seq + 1 - first] : undefined;
  }

  /** The stored events after `seq`, up to the last known one. */
  async *#storedAfter(seq: number): AsyncGenerator<Event, void, undefined> {
    for await (const page of this.#store.read(this.#session, { after: seq, upTo: this.#last }))
      yield* page;
  }

  #add(follower: Follower, head: number): void {
    this.#followers.add(follower);
    this.#last = Math.max(this.#last, head);
    if (this.#pump !== undefined) return;
    const pump = new AbortController();
    this.#pump = pump;
    this.#onFollowed(true);
    void this.#run(pump, this.#last);
  }

  #remove(follower: Follower): void {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return;
    this.#pump?.abort();
    this.#pump = undefined;
    this.#recent = [];
    this.#onFollowed(false);
  }

  async #run(pump: AbortController, from: number): Promise<void> {
    try {
      for await (const event of this.#store.follow(this.#session, from, pump.signal)) {
        if (pump.signal.aborted) return;
        // Events that a follower has read from the store may be ahead of the feed.
        if (this.#recent.length > 0 && this.#recent[this.#recent.length - 1]?.seq !== event.seq - 1)
          this.#recent = [];
        this.#recent.push(event);
        if (this.#recent.length > keptEvents) this.#recent = this.#recent.slice(-keptEvents / 2);
        this.#last = Math.max(this.#last, event.seq);
        this.live.landed(event);
        this.wake();
        const turn = this.#turns.pass();
        if (turn !== undefined) await turn;
      }
    } catch (error) {
      if (!pump.signal.aborted) this.#fail(error);
    }
  }

  /**
   * Ends all followers with an error. Later followers begin anew: a deleted session may be another
   * one by then.
   */
  #fail(error: unknown): void {
    this.#pump = undefined;
    this.#recent = [];
    this.#last = 0;
    this.live.forgetEnds();
    for (const follower of this.#followers) follower.failure = { error };
    this.wake();
  }
}

function wakeUp(follower: Follower): void {
  follower.isAwake = true;
  follower.wake?.();
  follower.wake = undefined;
}
