import { getHeapStatistics } from 'node:v8';
import type { Runtime } from 'adjutant';
import type { Clock } from 'adjutant/ports';
import { overloaded } from '../http/problem.ts';
import type { ResolvedServerOptions } from '../options.ts';

/** Milliseconds for which a look at the memory is good: requests must not pay for it. */
const memoryGoodForMs = 100;
/** Milliseconds between two trials whether a full disk has room again. */
const trialEveryMs = 1_000;

/** A way in which a process does less than all. */
export type Degradation = 'store_full' | 'overloaded';

/** The load of a process, and what it refuses because of it. */
export class Pressure {
  readonly #store: Runtime['store'];
  readonly #clock: Clock;
  readonly #limits: ResolvedServerOptions['limits'];
  #underWay = 0;
  #memory: { readonly at: number; readonly share: number } | undefined;
  #trial: { readonly at: number; readonly hasRoom: Promise<boolean> } | undefined;

  constructor(
    { store }: Pick<Runtime, 'store'>,
    { clock, limits }: { readonly clock: Clock; readonly limits: ResolvedServerOptions['limits'] },
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#limits = limits;
  }

  /**
   * Counts a request that is carried out, unless there is no room for it.
   * @returns function to call when it has been answered
   * @throws RequestRefusedError `overloaded` (503)
   */
  enter(): () => void {
    const excess = this.#excess();
    if (excess !== undefined) throw overloaded(excess);
    this.#underWay += 1;
    return () => {
      this.#underWay -= 1;
    };
  }

  /** The ways in which the process is degraded now. */
  degradations(): readonly Degradation[] {
    const isFull = this.#store.admin.pressure?.isFull === true;
    // The answer is for the next one who asks.
    if (isFull) void this.hasRoom();
    return [
      ...(isFull ? (['store_full'] as const) : []),
      ...(this.#excess() === undefined ? [] : (['overloaded'] as const)),
    ];
  }

  /** Checks that the store takes writes: false while its disk is full. */
  hasRoom(): Promise<boolean> {
    const pressure = this.#store.admin.pressure;
    if (pressure?.isFull !== true) return Promise.resolve(true);
    const at = this.#clock.monotonic();
    if (this.#trial === undefined || at - this.#trial.at >= trialEveryMs)
      this.#trial = { at, hasRoom: pressure.hasRoom() };
    return this.#trial.hasRoom;
  }

  /** The limit that is reached; `undefined` when there is room. */
  #excess(): string | undefined {
    const { requests, storeQueue, memory } = this.#limits;
    if (this.#underWay >= requests) return `${requests} requests are under way`;
    const waiting = this.#store.admin.pressure?.waiting ?? 0;
    if (waiting >= storeQueue) return `${waiting} operations wait for the store`;
    const share = this.#memoryShare();
    return share < memory
      ? undefined
      : `${Math.round(share * 100)} % of the memory of the process is in use`;
  }

  #memoryShare(): number {
    const at = this.#clock.monotonic();
    if (this.#memory === undefined || at - this.#memory.at >= memoryGoodForMs) {
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      this.#memory = { at, share: used / limit };
    }
    return this.#memory.share;
  }
}
