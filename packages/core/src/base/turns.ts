import { afterThisTurn, systemClock } from './clock.ts';

/**
 * The port through which work that grows with a ledger lets others have their turn of the event
 * loop.
 */
export interface Turns {
  /**
   * Checks the time between any two steps of such work. `undefined` means: go on. Otherwise the
   * turn is over, and the promise resolves in a later turn. Waiting work is resumed in order of
   * arrival, one piece in a turn.
   */
  pass(): Promise<void> | undefined;
}

/** Milliseconds of one turn that all such work together may take. */
const longestMs = 4;
/** Most steps of a turn, independent of their time. */
const mostSteps = 512;
/** Resumed entries are removed from the list now and then, not each time. */
const mostPassed = 1_000;

/**
 * The turns of the whole process. A hundred pieces of work of a few milliseconds each would still
 * be one long piece, because all ready work runs before the next turn.
 */
class SharedTurns implements Turns {
  readonly #waiting: (() => void)[] = [];
  #next = 0;
  /** Time of the first check in this turn; `undefined` before it. */
  #since: number | undefined;
  #steps = 0;

  pass(): Promise<void> | undefined {
    if (this.#since === undefined) {
      this.#begin();
      return undefined;
    }
    if (++this.#steps < mostSteps && systemClock.monotonic() - this.#since < longestMs)
      return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #begin(): void {
    this.#since = systemClock.monotonic();
    this.#steps = 0;
    afterThisTurn(() => this.#end());
  }

  #end(): void {
    this.#since = undefined;
    const resume = this.#waiting[this.#next];
    if (resume === undefined) {
      this.#waiting.length = 0;
      this.#next = 0;
      return;
    }
    this.#next++;
    if (this.#next > mostPassed) {
      this.#waiting.splice(0, this.#next);
      this.#next = 0;
    }
    this.#begin();
    resume();
  }
}

export const systemTurns: Turns = new SharedTurns();

/** Maps many values and lets other work have its turn meanwhile. */
export async function mapInTurns<Item, Made>(
  items: readonly Item[],
  make: (item: Item) => Made,
): Promise<readonly Made[]> {
  const made: Made[] = [];
  for (const item of items) {
    made.push(make(item));
    const turn = systemTurns.pass();
    if (turn !== undefined) await turn;
  }
  return made;
}
