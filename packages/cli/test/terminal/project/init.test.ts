/** `adjutant init` in a terminal: choices by keys, and a folder that is not empty. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { repositoryRoot } from '../../run-cli.ts';
import { restoredModes } from '../kit/byte-checks.ts';
import { PseudoTerminal } from '../kit/pseudo-terminal.ts';

const right = '\u001B[C';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-init-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function startInit(folder: string, args: readonly string[] = []): PseudoTerminal {
  const main = join(repositoryRoot, 'packages/cli/src/main.ts');
  const terminal = new PseudoTerminal({
    program: process.execPath,
    args: [main, 'init', '--no-install', ...args],
    cwd: folder,
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    columns: 100,
    rows: 24,
  });
  onTestFinished(() => terminal.close());
  return terminal;
}

test('template, model and store are chosen with the arrows', async () => {
  const folder = place();
  const terminal = startInit(folder);
  await terminal.shows('Template      › assistant with one tool · coder');
  terminal.write(right);
  await terminal.shows('assistant with one tool · › coder');
  terminal.write('\r');
  await terminal.shows(/Model +› /);
  terminal.write('\r');
  await terminal.shows('Store         › SQLite in .adjutant/');
  terminal.write('3');
  await terminal.shows('· › memory');
  terminal.write('\r');
  expect(await terminal.exited).toBe(0);
  expect(terminal.screen.whole).toContain('Next:  npm install && npx adjutant');
  expect(readFileSync(join(folder, 'src/store.ts'), 'utf8')).toContain('memoryStore');
  expect(existsSync(join(folder, 'src/tools/write-file.ts'))).toBe(true);
  restoredModes(terminal);
});

const flags = ['--template', 'assistant', '--model', 'rehearsal', '--store', 'memory'];

test.each([
  ['y', 0, true],
  ['n', 1, false],
] as const)(
  'after %s to a folder that is not empty, the exit code is %d',
  async (key, code, is) => {
    const folder = place();
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    const terminal = startInit(folder, flags);
    await terminal.shows('Write them? (y/N)');
    expect(existsSync(join(folder, 'package.json'))).toBe(false);
    terminal.write(key);
    expect(await terminal.exited).toBe(code);
    expect(existsSync(join(folder, 'package.json'))).toBe(is);
  },
);

test('Ctrl-C while choosing writes nothing', async () => {
  const folder = place();
  const terminal = startInit(folder);
  await terminal.shows('› assistant');
  terminal.write('\u0003');
  expect(await terminal.exited).toBe(130);
  expect(existsSync(join(folder, 'package.json'))).toBe(false);
});
