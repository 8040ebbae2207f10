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

/** Waits until the keys of a request mean something: they are bold then. */
export function takesKeys(terminal: PseudoTerminal): Promise<void> {
  return terminal.until('keys that are not dead', ({ lines, top, cells }) => {
    const row = lines.findIndex((line) =>
      /Tab: message|Enter details|Esc back|p tell|[ny] (refuse|allow)/.test(line),
    );
    return row !== -1 && cells(top + row)[2]?.bold === true;
  });
}
