import { expect } from 'vitest';
import type { PseudoTerminal } from './pseudo-terminal.ts';

const introducer = '\u001B[';
/** Modes of a terminal that a program turns on, with the bytes that turn them off again. */
const modes: readonly { readonly on: string; readonly off: string }[] = [
  { on: '?25l', off: '?25h' },
  { on: '?2004h', off: '?2004l' },
  { on: '?1049h', off: '?1049l' },
  { on: '?2026h', off: '?2026l' },
  { on: '22;0t', off: '23;0t' },
];

/** Checks that a program has neither cleared the screen nor the scrollback. */
export function clearedNothing({ raw }: PseudoTerminal): void {
  expect(raw).not.toContain(`${introducer}2J`);
  expect(raw).not.toContain(`${introducer}3J`);
}

/**
 * Checks that no line of the screen or the scrollback has anything in its last column, but for the
 * command that goes on: the terminal wraps it, so that it can be copied whole.
 */
export function keptLastColumnFree({ screen }: PseudoTerminal): void {
  const end = screen.allLines.findIndex((line) => line.startsWith('Continue with: '));
  const lines = end === -1 ? screen.allLines : screen.allLines.slice(0, end);
  const full = lines.filter((_, index) => {
    const last = screen.cells(index).at(-1);
    return last !== undefined && last.text.trim() !== '';
  });
  expect(full).toEqual([]);
}

/** Checks that a program that ended has turned every mode off that it had turned on. */
export function restoredModes({ raw }: PseudoTerminal): void {
  const left = modes.filter(
    ({ on, off }) => raw.lastIndexOf(`${introducer}${on}`) > raw.lastIndexOf(`${introducer}${off}`),
  );
  expect(left).toEqual([]);
  const pushed = raw.split(introducer).filter((rest) => /^>\d+u/.test(rest)).length + 1;
  expect(raw.split(`${introducer}<u`).length, 'kitty keys').toBe(pushed);
}
