import { afterThisTurn, systemClock } from './clock.ts';

/**
 * The port through which work that grows with a ledger lets others have their turn of the event
 * loop.
 */
export interface Turns {
  /**
   * To be called between any two steps of such work. `undefined`: go on. Else the turn is over, and
   * the promise resolves in a later one; those who wait are resumed in the order in which they
   * came, one in a turn.
   */
  pass(): Promise<void> | undefined;
}

/** Milliseconds of a turn that such work may take, of all who do some together. */
const longestMs = 4;
/** Steps of a turn, whatever time says. */
const mostSteps = 512;
/** Those who were resumed are taken off the list now and then, not each time. */
const mostPassed = 1_000;

/**
 * One for the whole process: a hundred pieces of work that each keep within a few milliseconds
 * would still be one long piece, because all that is ready is done before the next turn.
 */
class SharedTurns implements Turns {
  readonly #waiting: (() => void)[] = [];
  #next = 0;
  /** When the first piece of work of this turn looked; `undefined`: none has yet. */
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

/** Makes something of each of many, and lets others have their turn meanwhile. */
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
