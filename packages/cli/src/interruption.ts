const exitCodesBySignal = { SIGINT: 130, SIGTERM: 143 } as const;
export type InterruptSignal = keyof typeof exitCodesBySignal;

/**
 * Ends the process by the signal itself: `process.exit` would wait for the store's thread, which a
 * locked file can hold for seconds.
 */
function endBy(signal: InterruptSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/**
 * Ctrl-C and SIGTERM: the first one stops what is under way, the second one ends the process at
 * once.
 */
export class Interruption {
  #received: InterruptSignal | undefined;
  #stop: (() => void) | undefined;

  /** Takes over the signals of this process. */
  listen(): void {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => this.interrupt(signal));
  }

  /** What a signal does; a terminal in raw mode sends none and calls this instead. */
  interrupt(signal: InterruptSignal): void {
    const isFirst = this.#received === undefined;
    this.#received ??= signal;
    if (isFirst && this.#stop !== undefined) this.#stop();
    else endBy(signal);
  }

  /** The exit code of the signal that came, if one did. */
  get exitCode(): number | undefined {
    return this.#received === undefined ? undefined : exitCodesBySignal[this.#received];
  }

  /** Has `stop` called by a signal for as long as the work lasts. */
  async during<Result>(stop: () => void, work: () => PromiseLike<Result>): Promise<Result> {
    const outer = this.#stop;
    this.#stop = stop;
    try {
      return await work();
    } finally {
      this.#stop = outer;
    }
  }
}
