interface Caller {
  running: number;
  readonly waiting: Set<() => void>;
}

/**
 * Turns of the callers that replay. Of each caller a few pieces of replay are made at a time; the
 * others wait in the order in which they came. So a caller with a hundred streams takes no more of
 * the process than one with a few. A slow reader delays no other, because it asks for the next
 * piece only after taking the last.
 */
export class ReplayTurns {
  readonly #limit: number;
  readonly #callers = new Map<string, Caller>();

  /** @param limit pieces that are made for one caller at a time */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Does some work when it is its caller's turn; `undefined`: the signal aborted before. */
  async during<Result>(
    name: string,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    const caller = this.#callers.get(name) ?? { running: 0, waiting: new Set() };
    this.#callers.set(name, caller);
    if (caller.running < this.#limit && caller.waiting.size === 0) caller.running++;
    else if (!(await this.#turn(caller, signal))) return undefined;
    try {
      return signal.aborted ? undefined : await work();
    } finally {
      this.#release(name, caller);
    }
  }

  /** @returns `true` when the turn came: a waiting caller is counted among those that run */
  #turn(caller: Caller, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        resolve(true);
      };
      const leave = (): void => {
        caller.waiting.delete(begin);
        resolve(false);
      };
      caller.waiting.add(begin);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  #release(name: string, caller: Caller): void {
    const [next] = caller.waiting;
    if (next !== undefined) {
      caller.waiting.delete(next);
      next();
      return;
    }
    caller.running--;
    if (caller.running === 0) this.#callers.delete(name);
  }
}
