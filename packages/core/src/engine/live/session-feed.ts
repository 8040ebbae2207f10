import type { Event, StreamEvent } from '../../ledger/event.ts';
import type { LedgerStore } from '../../ledger/port.ts';
import { LiveReader, type LiveText } from './live-text.ts';

/** Events that are kept for those who keep up; whoever is further behind reads the store. */
const keptEvents = 64;

interface Follower {
  isAwake: boolean;
  wake: (() => void) | undefined;
}

/** The store is followed once for all who follow a session in this process. */
export class SessionFeed {
  readonly live: LiveText;
  readonly #store: LedgerStore;
  readonly #session: string;
  readonly #followers = new Set<Follower>();
  /** Called when the first follower comes and the last one goes. */
  readonly #onFollowed: (isFollowed: boolean) => void;
  #recent: Event[] = [];
  /** `seq` of the last event that is known of. */
  #last = 0;
  #pump: AbortController | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(session: string, store: LedgerStore, live: LiveText, onFollowed: (isFollowed: boolean) => void) {
    this.#session = session;
    this.#store = store;
    this.live = live;
    this.#onFollowed = onFollowed;
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  /** There is something new to be streamed. */
  wake(): void {
    for (const follower of this.#followers) wakeUp(follower);
  }

  /** @param head `seq` of the last event at the moment */
  async *follow(after: number, head: number, signal: AbortSignal): AsyncGenerator<StreamEvent, void, undefined> {
    const follower: Follower = { isAwake: false, wake: undefined };
    const stop = (): void => wakeUp(follower);
    signal.addEventListener('abort', stop);
    this.#add(follower, head);
    const reader = new LiveReader();
    try {
      let seq = after;
      while (!signal.aborted) {
        follower.isAwake = false;
        if (seq < this.#last) {
          for await (const event of this.#after(seq)) {
            seq = event.seq;
            reader.passed(event);
            yield event;
            if (signal.aborted) return;
          }
        }
        if (seq >= head) reader.arrived(this.live);
        const event = reader.next(this.live, seq);
        if (event !== undefined) yield event;
        else if (this.#failure !== undefined) throw this.#failure.error;
        else if (!follower.isAwake && !signal.aborted) await new Promise<void>((resolve) => (follower.wake = resolve));
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#remove(follower);
    }
  }

  /** The durable events after `seq`, as far as they are known of. */
  async *#after(seq: number): AsyncGenerator<Event, void, undefined> {
    let last = seq;
    while (last < this.#last) {
      const first = this.#recent[0]?.seq ?? Number.POSITIVE_INFINITY;
      const kept = last + 1 >= first ? this.#recent[last + 1 - first] : undefined;
      if (kept !== undefined) {
        last = kept.seq;
        yield kept;
        continue;
      }
      const before = last;
      for await (const page of this.#store.read(this.#session, { after: last, upTo: this.#last })) {
        for (const event of page) {
          last = event.seq;
          yield event;
        }
      }
      if (last === before) return;
    }
  }

  #add(follower: Follower, head: number): void {
    this.#followers.add(follower);
    this.#last = Math.max(this.#last, head);
    if (this.#pump !== undefined) return;
    this.#failure = undefined;
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
        // What others read meanwhile from the store may be ahead of it.
        if (this.#recent.length > 0 && this.#recent[this.#recent.length - 1]?.seq !== event.seq - 1) this.#recent = [];
        this.#recent.push(event);
        if (this.#recent.length > keptEvents) this.#recent = this.#recent.slice(-keptEvents / 2);
        this.#last = Math.max(this.#last, event.seq);
        this.live.landed(event);
        this.wake();
      }
    } catch (error) {
      if (pump.signal.aborted) return;
      this.#failure = { error };
      if (this.#pump === pump) this.#pump = undefined;
      this.wake();
    }
  }
}

function wakeUp(follower: Follower): void {
  follower.isAwake = true;
  follower.wake?.();
  follower.wake = undefined;
}
