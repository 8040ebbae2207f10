/** Signal that something has changed for the loop. It stays set until it is cleared. */
export class ChangeSignal {
  #isSet = false;
  #wake: (() => void) | undefined;

  get isSet(): boolean {
    return this.#isSet;
  }

  notify(): void {
    this.#isSet = true;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Resolves at the next change. A change before the call does not count: see `isSet`. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  clear(): void {
    this.#isSet = false;
  }
}
