const exitCodesBySignal = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
export type InterruptSignal = keyof typeof exitCodesBySignal;
export const interruptSignals = Object.keys(exitCodesBySignal) as readonly InterruptSignal[];

/** Listeners to the signals with which a shell stops a program and lets it go on. */
export interface JobControl {
  readonly stop: () => void;
  readonly goOn: () => void;
}

/** Port to the signals that interrupt a command. */
export interface Signals {
  /** Calls the listener at each such signal from now on. */
  listen(signal: InterruptSignal, listener: () => void): void;
  /** Ends the process at once. */
  endBy(signal: InterruptSignal): void;
  /** Ends the process at once, with an exit code. */
  exit(code: number): void;
  /**
   * Calls the listener when the process ends, whether by itself, by an error or by `endBy`. Returns
   * a function that forgets it.
   */
  atEnd(listener: () => void): () => void;
  /** Calls the listeners at signals of job control. Returns a function that forgets them. */
  onJobControl(listeners: JobControl): () => void;
  /**
   * Stops the process, and those that started it for the same command, as Ctrl-Z does. Resolves
   * when it goes on. Where no shell would let it go on, it is not stopped.
   */
  stopHere(): Promise<void>;
}

/**
 * Handler of Ctrl-C, SIGTERM and SIGHUP. The first signal stops the work under way, the second ends
 * the process at once.
 */
export class Interruption {
  readonly #signals: Signals;
  #received: InterruptSignal | undefined;
  #stop: (() => void) | undefined;
  /** True while another program has the terminal: Ctrl-C is meant for that one. */
  #isLent = false;

  constructor(signals: Signals) {
    this.#signals = signals;
  }

  /** Begins to handle the signals. */
  listen(): void {
    for (const signal of interruptSignals)
      this.#signals.listen(signal, () => this.interrupt(signal));
  }

  /** Handles a signal. A terminal in raw mode sends none, and its Ctrl-C calls this instead. */
  interrupt(signal: InterruptSignal): void {
    // A terminal that closes tells so several times: the system, the shell, and each read or write.
    if (signal === 'SIGHUP' && this.#received !== undefined) return;
    if (signal === 'SIGINT' && this.#isLent) return;
    const isFirst = this.#received === undefined;
    this.#received ??= signal;
    if (isFirst && this.#stop !== undefined) this.#stop();
    else this.#signals.endBy(signal);
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

  /** Runs work during which another program has the terminal and its Ctrl-C. */
  async lending<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#isLent = true;
    try {
      return await work();
    } finally {
      this.#isLent = false;
    }
  }
}
