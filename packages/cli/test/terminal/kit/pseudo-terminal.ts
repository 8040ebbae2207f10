import { createRequire } from 'node:module';
import { type IPty, spawn } from '@lydell/node-pty';
import type { Terminal } from '@xterm/headless';
import { type Screen, screenOf } from './screen.ts';

// The package is CommonJS, and Node does not see the names that it exports.
const xterm = createRequire(import.meta.url)('@xterm/headless') as typeof import('@xterm/headless');

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface ProgramStart extends TerminalSize {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Real milliseconds after which a wait fails. Only a test that hangs meets it. @default 60,000
   */
  readonly patienceMs?: number;
}

const bracketedPaste = { start: '\u001B[200~', end: '\u001B[201~' } as const;

/** A program in a pseudo-terminal, with the screen that its output makes. */
export class PseudoTerminal {
  readonly #pty: IPty;
  readonly #terminal: Terminal;
  readonly #exit = Promise.withResolvers<number>();
  readonly #listeners = new Set<() => void>();
  readonly #readers = new Set<(text: string) => void>();
  readonly #patienceMs: number;
  #raw = '';
  #exitCode: number | undefined;

  constructor(start: ProgramStart) {
    const { program, args, cwd, env, columns, rows, patienceMs = 60_000 } = start;
    this.#patienceMs = patienceMs;
    this.#terminal = new xterm.Terminal({
      cols: columns,
      rows,
      scrollback: 200_000,
      allowProposedApi: true,
    });
    this.#pty = spawn(program, [...args], {
      name: env['TERM'] ?? 'xterm-256color',
      cols: columns,
      rows,
      cwd,
      env: { ...env },
    });
    this.#pty.onData((text) => {
      this.#raw += text;
      for (const read of [...this.#readers]) read(text);
      this.#terminal.write(text, () => this.#changed());
    });
    // Answers of the terminal to questions of the program, such as the place of the cursor.
    this.#terminal.onData((answer) => {
      if (this.#exitCode === undefined) this.#pty.write(answer);
    });
    this.#pty.onExit(({ exitCode, signal = 0 }) => {
      const code = signal > 0 ? 128 + signal : exitCode;
      // What was written before the end is parsed first.
      this.#terminal.write('', () => {
        this.#exitCode = code;
        this.#exit.resolve(code);
        this.#changed();
      });
    });
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** Every byte that the program wrote, as text. */
  get raw(): string {
    return this.#raw;
  }

  /** The screen and the scrollback as they are now. */
  get screen(): Screen {
    return screenOf(this.#terminal);
  }

  /** Exit code of the program, as a shell tells it: 128 and the number of the signal. */
  get exited(): Promise<number> {
    return this.#exit.promise;
  }

  /** Writes keys as the terminal would send them. */
  write(keys: string): void {
    this.#pty.write(keys);
  }

  /** Writes a paste, with the marks around it that terminals add. */
  paste(text: string): void {
    this.write(`${bracketedPaste.start}${text}${bracketedPaste.end}`);
  }

  /** Changes the size, after what the program wrote for the old one is on the screen. */
  async resize({ columns, rows }: TerminalSize): Promise<void> {
    await new Promise<void>((resolve) => this.#terminal.write('', resolve));
    this.#terminal.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  /** Takes the terminal away from the program, as when its window is closed. */
  hangUp(): void {
    // The types of the package leave it out.
    (this.#pty as IPty & { destroy(): void }).destroy();
  }

  kill(signal: NodeJS.Signals): void {
    if (this.#exitCode === undefined) this.#pty.kill(signal);
  }

  /** Sends a signal to the program and to those that it has started in the foreground. */
  killAll(signal: NodeJS.Signals): void {
    if (this.#exitCode === undefined) process.kill(-this.pid, signal);
  }

  /** Ends the program, if it has not ended, and frees the terminal. */
  close(): void {
    this.kill('SIGKILL');
    // A terminal that is gone would not parse the last output, and so not tell of the end.
    void this.exited.then(() => this.#terminal.dispose());
  }

  /**
   * Waits until a condition on the screen holds, looking at it whenever output came.
   * @throws Error with the screen, when the condition never holds
   */
  async until(what: string, holds: (screen: Screen) => boolean): Promise<void> {
    if (holds(this.screen)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const refuse = (why: string): void =>
      reject(new Error(`${what} has not come: ${why}. The screen:\n${this.screen.whole}`));
    const waited = `${this.#patienceMs} ms have passed`;
    const timer = setTimeout(() => refuse(waited), this.#patienceMs);
    const look = (): void => {
      if (holds(this.screen)) resolve();
      else if (this.#exitCode !== undefined) refuse(`the program ended with ${this.#exitCode}`);
    };
    this.#listeners.add(look);
    try {
      look();
      await promise;
    } finally {
      clearTimeout(timer);
      this.#listeners.delete(look);
    }
  }

  /**
   * Waits for a text among the bytes behind a place. The screen is not read, which takes time where
   * its scrollback is long.
   */
  wrote(text: string, after: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let seen = '';
    const read = (piece: string): void => {
      seen = seen.slice(-text.length) + piece;
      if (!seen.includes(text)) return;
      this.#readers.delete(read);
      resolve();
    };
    this.#readers.add(read);
    read(this.#raw.slice(after));
    return promise;
  }

  /** Waits for a text on the screen or in the scrollback. */
  shows(text: string | RegExp): Promise<void> {
    return this.until(String(text), ({ whole }) => has(whole, text));
  }

  /** Waits for a text on the visible part of the screen. */
  showsNow(text: string | RegExp): Promise<void> {
    return this.until(String(text), (screen) => has(screen.text, text));
  }

  /** Waits until a text is no longer on the visible part of the screen. */
  hides(text: string | RegExp): Promise<void> {
    return this.until(`the end of ${String(text)}`, (screen) => !has(screen.text, text));
  }
}

function has(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);
}
