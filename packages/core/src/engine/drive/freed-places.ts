import type { Host } from '../../base/host.ts';

/** Share of the places that are gathered before a full queue is asked for more. */
const gatheredShare = 1 / 2;
/**
 * Time that a free place waits for others at most: so many times what the last look took, since
 * looks that take long wait for those of other processes; and its limits in milliseconds.
 */
const looksWaited = 4;
const leastWaitMs = 50;
const longestWaitMs = 250;

/**
 * Places of a process that have become free. While the queue fills all of them, each look takes for
 * several places at once: with a look for each place, what a run costs the store would grow with
 * the number of processes, since each of them ends fewer runs in the time of one look.
 */
export class FreedPlaces {
  readonly #host: Host;
  readonly #enough: number;
  readonly #look: () => void;
  #isQueueFull = false;
  #waitMs = leastWaitMs;
  #freed = 0;
  #cancelWait: (() => void) | undefined;

  /**
   * @param places all places of the process
   * @param look asks the queue for more
   */
  constructor(host: Host, places: number, look: () => void) {
    this.#host = host;
    this.#enough = Math.ceil(places * gatheredShare);
    this.#look = look;
  }

  /** Notes that a place is free: the queue is asked at once, or for several places together. */
  freed(): void {
    this.#freed += 1;
    if (!this.#isQueueFull || this.#freed >= this.#enough) this.#look();
    else this.#cancelWait ??= this.#host.setBackgroundTimer(this.#waitMs, this.#look);
  }

  /** Notes for how many places a look has asked, how many turns it got, and how long it took. */
  looked(asked: number, got: number, ms: number): void {
    this.stop();
    this.#waitMs = Math.min(Math.max(leastWaitMs, ms * looksWaited), longestWaitMs);
    this.#isQueueFull = asked > 0 && got >= asked;
    this.#freed = 0;
  }

  stop(): void {
    this.#cancelWait?.();
    this.#cancelWait = undefined;
  }
}
