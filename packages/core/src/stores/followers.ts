import type { Event } from '../ledger/event.ts';

/** A reader that waits for a ledger to grow. */
interface Follower {
  readonly key: string;
  /** True when the ledger may have changed since the follower last read it. */
  awake: boolean;
  wake: (() => void) | undefined;
}

/** The followers of the ledgers of one store. A wake is only a hint to read again. */
export class Followers {
  readonly #byKey = new Map<string, Set<Follower>>();
  #failure: Error | undefined;
  #count = 0;
  readonly #onCountChange: (count: number) => void;

  /** @param onCountChange called when a follower comes or goes */
  constructor(onCountChange: (count: number) => void = () => undefined) {
    this.#onCountChange = onCountChange;
  }

  wake(key: string): void {
    const followers = this.#byKey.get(key);
    if (followers !== undefined) for (const follower of followers) wakeUp(follower);
  }

  wakeAll(): void {
    for (const followers of this.#byKey.values())
      for (const follower of followers) wakeUp(follower);
  }

  /** Ends all followers, now and later, with an error. */
  fail(error: Error): void {
    this.#failure = error;
    this.wakeAll();
  }

  /** Yields events, and reads again after every wake. `read` returns the events after a `seq`. */
  async *follow(
    key: string,
    afterSeq: number,
    signal: AbortSignal,
    read: (afterSeq: number) => AsyncIterable<readonly Event[]>,
  ): AsyncGenerator<Event, void, undefined> {
    const follower: Follower = { key, awake: false, wake: undefined };
    const stop = (): void => wakeUp(follower);
    signal.addEventListener('abort', stop);
    this.#add(follower);
    try {
      let last = afterSeq;
      while (!signal.aborted) {
        follower.awake = false;
        for await (const page of read(last)) {
          for (const event of page) {
            if (signal.aborted) return;
            last = event.seq;
            yield event;
          }
        }
        if (this.#failure !== undefined) throw this.#failure;
        if (!follower.awake && !signal.aborted)
          await new Promise<void>((resolve) => (follower.wake = resolve));
      }
    } finally {
      signal.removeEventListener('abort', stop);
      this.#remove(follower);
    }
  }

  #add(follower: Follower): void {
    const followers = this.#byKey.get(follower.key);
    if (followers === undefined) this.#byKey.set(follower.key, new Set([follower]));
    else followers.add(follower);
    this.#onCountChange(++this.#count);
  }

  #remove(follower: Follower): void {
    const followers = this.#byKey.get(follower.key);
    followers?.delete(follower);
    if (followers?.size === 0) this.#byKey.delete(follower.key);
    this.#onCountChange(--this.#count);
  }
}

function wakeUp(follower: Follower): void {
  follower.awake = true;
  follower.wake?.();
  follower.wake = undefined;
}
