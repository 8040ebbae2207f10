const exitCodesBySignal = { SIGINT: 130, SIGTERM: 143 } as const;
export type InterruptSignal = keyof typeof exitCodesBySignal;

/**
 * Ends the process by the signal itself. `process.exit` would wait for the thread of the store,
 * which a locked file can hold for seconds.
 */
function endBy(signal: InterruptSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/**
 * Handler of Ctrl-C and SIGTERM. The first signal stops the work under way, the second ends the
 * process at once.
 */
export class Interruption {
  #received: InterruptSignal | undefined;
  #stop: (() => void) | undefined;

  /** Begins to handle the signals of this process. */
  listen(): void {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => this.interrupt(signal));
  }

  /** Handles a signal. A terminal in raw mode sends none, and its Ctrl-C calls this instead. */
  interrupt(signal: InterruptSignal): void {
    const isFirst = this.#received === undefined;
    this.#received ??= signal;
    if (isFirst && this.#stop !== undefined) this.#stop();
    else endBy(signal);
  }

  /** Exit code of the first signal. `undefined`: none came. */
  get exitCode(): number | undefined {
    return this.#received === undefined ? undefined : exitCodesBySignal[this.#received];
  }

  /** Runs work during which a signal calls `stop`. */
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
