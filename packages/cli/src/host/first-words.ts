import { ownManifest } from '../own-package.ts';
import { interruptSignals } from './interruption.ts';
import { isForScreenReader, takesKeys } from './takes-keys.ts';
import { type ModesHost, TerminalModes } from './terminal-modes.ts';

/** The begin of the header, which is printed before anything is loaded. */
export function firstWords(): string {
  return `adjutant ${ownManifest().version}`;
}

/** Options that do not decide whether the app is opened. */
const plainFlags: ReadonlySet<string> = new Set(['--ascii', '--no-config']);
const valueFlags: ReadonlySet<string> = new Set([
  ...['--config', '--agent', '--session', '--model', '--store', '--app', '--root', '--lane'],
  ...['--ask-before', '--server', '--key', '--color'],
]);

/** The terminal, taken for the app before the program is loaded. */
export class EarlyTerminal {
  readonly #host: ModesHost;
  #modes: TerminalModes | undefined;

  /** Takes the keys, which wait for the app, and then writes the first words. */
  constructor(host: ModesHost) {
    this.#host = host;
    this.#modes = new TerminalModes(host);
    // Keys that come in between are not echoed, and their Enter stays one.
    this.#modes.enter();
    host.stdout.write(firstWords());
  }

  /** True until the app has the terminal. */
  get isWaiting(): boolean {
    return this.#modes !== undefined;
  }

  /** Hands the terminal to the app. `undefined`: the app has it already. */
  take(): TerminalModes | undefined {
    const modes = this.#modes;
    this.#modes = undefined;
    return modes;
  }

  /** Gives the terminal back, because the app is not opened after all. */
  drop(): void {
    const modes = this.take();
    if (modes === undefined) return;
    modes.leave();
    this.#host.stdin.pause();
    this.#host.stdout.write('\r\u001B[K');
  }
}

/**
 * Takes the terminal for the app, where the arguments open it as far as can be seen without the
 * grammar of the command line.
 */
export function takeTerminal(args: readonly string[], host: ModesHost): EarlyTerminal | undefined {
  if (!takesKeys(host) || isForScreenReader(host) || !opensApp(args)) return undefined;
  const early = new EarlyTerminal(host);
  // Before the program listens, a signal would leave the terminal as it is.
  for (const signal of interruptSignals)
    host.signals.listen(signal, () => early.isWaiting && host.signals.endBy(signal));
  return early;
}

function opensApp(args: readonly string[]): boolean {
  let rest = args[0] === 'chat' ? args.slice(1) : args;
  while (rest.length > 0) {
    const [flag = ''] = rest;
    if (!plainFlags.has(flag) && !valueFlags.has(flag)) return false;
    rest = rest.slice(valueFlags.has(flag) ? 2 : 1);
  }
  return true;
}
