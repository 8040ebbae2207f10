/** The kit itself: programs in a pseudo-terminal, read by their screens. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { clearedNothing, keptLastColumnFree, restoredModes } from './byte-checks.ts';
import { keepPicture, svgOf } from './picture.ts';
import { PseudoTerminal } from './pseudo-terminal.ts';

function shell(script: string, size = { columns: 40, rows: 6 }): PseudoTerminal {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-terminal-'));
  const terminal = new PseudoTerminal({
    program: '/bin/bash',
    args: ['--noprofile', '--norc', '-c', script],
    cwd: folder,
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    ...size,
  });
  onTestFinished(() => {
    terminal.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return terminal;
}

test('a program reads keys, and its output is read from the cells of the screen', async () => {
  const terminal = shell('read -r line; printf "\\033[1;31mgot %s\\033[0m\\n" "$line"; exit 7');
  terminal.write('hello\r');
  await terminal.shows('got hello');
  expect(await terminal.exited).toBe(7);
  const row = terminal.screen.allLines.indexOf('got hello');
  expect(terminal.screen.cells(row)[0]).toMatchObject({ text: 'g', bold: true, colour: 1 });
  expect(svgOf(terminal.screen, 'dark')).toMatch(/font-weight="bold"[^>]*>got hello</);
  await keepPicture(terminal.screen, 'kit');
});

test('the program learns of a new size', async () => {
  const terminal = shell('trap "stty size" WINCH; echo ready; while :; do read -r -t 1; done');
  await terminal.shows('ready');
  terminal.resize({ columns: 33, rows: 9 });
  await terminal.shows('9 33');
});

test('a wait that is in vain tells what the screen shows', async () => {
  const terminal = shell('echo bye');
  await expect(terminal.shows('hello')).rejects.toThrow(/ended with 0.*\n.*bye/);
});

test('cleared screens, full columns and modes left on are found', async () => {
  const terminal = shell('printf "%40s" x; printf "\\033[2J\\033[?2004h\\033[?25l\\033[?25h"');
  await terminal.exited;
  expect(() => clearedNothing(terminal)).toThrow();
  expect(() => restoredModes(terminal)).toThrow(/2004/);
  const full = shell('printf "%40s" x');
  await full.exited;
  expect(() => keptLastColumnFree(full)).toThrow();
});
