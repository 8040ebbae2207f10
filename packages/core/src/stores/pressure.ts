import { isAdjutantError } from '../base/error.ts';
import type { StorePressure } from '../ledger/port.ts';

/** The load of a store: how much waits for it, and whether its disk is full. */
export class Pressure implements StorePressure {
  readonly #count: () => number;
  readonly #tryWrite: () => Promise<unknown>;
  #isFull = false;
  #trial: Promise<boolean> | undefined;

  /**
   * @param count returns the number of operations without an answer
   * @param tryWrite writes enough to need new room, and removes it again
   */
  constructor(count: () => number, tryWrite: () => Promise<unknown>) {
    this.#count = count;
    this.#tryWrite = tryWrite;
  }

  get waiting(): number {
    return this.#count();
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Takes note of a failure of the store. */
  failed(error: unknown): void {
    if (isFullError(error)) this.#isFull = true;
  }

  hasRoom(): Promise<boolean> {
    if (!this.#isFull) return Promise.resolve(true);
    this.#trial ??= this.#try().finally(() => {
      this.#trial = undefined;
    });
    return this.#trial;
  }

  async #try(): Promise<boolean> {
    try {
      await this.#tryWrite();
    } catch (error) {
      // Another failure says nothing of room: the next write meets it, too.
      if (isFullError(error)) return false;
    }
    this.#isFull = false;
    return true;
  }
}

function isFullError(error: unknown): boolean {
  return isAdjutantError(error, 'store_unavailable') && error.data['full'] === true;
}
