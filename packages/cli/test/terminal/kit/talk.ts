import { type AppBench, type AppStart, appBench } from './app-start.ts';
import type { PseudoTerminal } from './pseudo-terminal.ts';

/** Keys as terminals send them. */
export const keys = {
  enter: '\r',
  escape: '\u001B',
  tab: '\t',
  up: '\u001B[A',
  down: '\u001B[B',
  right: '\u001B[C',
  pageUp: '\u001B[5~',
  pageDown: '\u001B[6~',
  altEnter: '\u001B\r',
  ctrl: (letter: string): string => String.fromCharCode(letter.toUpperCase().charCodeAt(0) - 64),
} as const;

export interface Talk extends AppBench {
  readonly terminal: PseudoTerminal;
  /** Writes a message and Enter. */
  say(text: string): void;
  /** Waits until the agent rests, leaves the app, and returns its exit code. */
  leave(): Promise<number>;
}

/** Waits until the keys of a request mean something: they are bold then. */
export function takesKeys(terminal: PseudoTerminal): Promise<void> {
  return terminal.until('keys that are not dead', ({ lines, top, cells }) => {
    const row = lines.findIndex((line) =>
      /Tab: message|Enter details|Esc back|p tell|[ny] (refuse|allow)/.test(line),
    );
    return row !== -1 && cells(top + row)[2]?.bold === true;
  });
}

/** Starts the app, and waits until it takes messages. */
export async function talk(options: AppStart = {}): Promise<Talk> {
  const bench = await appBench();
  const terminal = bench.start(options);
  await terminal.shows(/new session|session …/);
  return {
    ...bench,
    terminal,
    say: (text) => terminal.write(`${text}${keys.enter}`),
    leave: async () => {
      // While the agent works, Ctrl-D would interrupt it first.
      await terminal.until('the rest of the agent', ({ lines }) => {
        const status = lines.findLast((line) => line !== '') ?? '';
        return /(\/ commands|Enter goes on)$/.test(status);
      });
      terminal.write(`${keys.ctrl('u')}${keys.ctrl('d')}`);
      return terminal.exited;
    },
  };
}
