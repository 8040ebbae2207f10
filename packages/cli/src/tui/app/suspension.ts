import type { Host } from '../../host/host.ts';
import type { Interruption } from '../../host/interruption.ts';
import type { TerminalModes } from '../../host/terminal-modes.ts';
import type { ScreenView } from '../view/screen-view.ts';
import type { TerminalApp } from './terminal-app.ts';

export interface SuspensionParts {
  readonly host: Host;
  readonly interruption: Interruption;
  readonly modes: TerminalModes;
  readonly view: ScreenView;
  readonly app: TerminalApp;
  readonly onFault: (error: unknown) => void;
}

/**
 * Ctrl-Z, which gives the terminal to the shell, and the way back. The shell and the programs of
 * the time between may have changed the modes and the screen, and others the ledger.
 */
export class Suspension {
  readonly #parts: SuspensionParts;
  /** The change between app and shell that is under way. */
  #turn: Promise<void> = Promise.resolve();
  #isShown = true;
  /** True while another program has the terminal. */
  #isLent = false;

  constructor(parts: SuspensionParts) {
    this.#parts = parts;
  }

  /** Listens to the signals of job control. Returns a function that ends it. */
  listen(): () => void {
    const { signals } = this.#parts.host;
    return signals.onJobControl({
      stop: () => (this.#isLent ? void signals.stopHere() : this.suspend()),
      goOn: () => {
        if (!this.#isLent) this.#next(() => this.#comeBack());
      },
    });
  }

  /** Gives the terminal to the shell. */
  suspend(): void {
    this.#next(async () => {
      const { host, modes } = this.#parts;
      await this.#hide();
      modes.leave();
      await host.signals.stopHere();
      await this.#comeBack();
    });
  }

  /** Gives the terminal to another program, and takes it back when that has ended. */
  async lend<Result>(use: () => Promise<Result>): Promise<Result> {
    const { host, interruption, modes } = this.#parts;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#next(async () => {
      await this.#hide();
      modes.leave();
      host.stdin.pause();
      this.#isLent = true;
      await interruption.lending(use).then(resolve, reject);
      this.#isLent = false;
      host.stdin.resume();
      await this.#comeBack();
    });
    return promise;
  }

  #next(step: () => Promise<void>): void {
    this.#turn = this.#turn.then(step).catch(this.#parts.onFault);
  }

  async #hide(): Promise<void> {
    if (this.#isShown) await this.#parts.view.hide();
    this.#isShown = false;
  }

  async #comeBack(): Promise<void> {
    const { modes, view, app } = this.#parts;
    await this.#hide();
    // A mode that seems to be on already would not be set.
    modes.leave();
    modes.enter();
    view.show();
    this.#isShown = true;
    await app.comeBack();
  }
}
