/** The first command in a clone, which installs the packages. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { repositoryRoot } from '../run-cli.ts';

const script = join(repositoryRoot, 'scripts/install.mjs');
const begin = "Installing Adjutant's packages (once, about a minute) …\n";

interface Npm {
  readonly code: number;
  readonly said: string;
}

interface Installation {
  readonly npm: (isTerminal: boolean) => Promise<Npm>;
  readonly say: (text: string) => void;
  readonly every: (ms: number, listener: () => void) => () => void;
  readonly isTerminal: boolean;
}

/** Runs the script with another npm. */
async function installWith(npm: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-install-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'npm.mjs');
  writeFileSync(file, npm);
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env['PATH'], npm_execpath: file },
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (text: Buffer) => (said.stdout += String(text)));
  child.stderr.on('data', (text: Buffer) => (said.stderr += String(text)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...said };
}

test('the installation says what it does, and nothing on standard output', async () => {
  const npm = "console.log('added 1 package'); if (process.argv[2] !== 'ci') process.exit(9);";
  expect(await installWith(npm)).toEqual({ code: 0, stdout: '', stderr: begin });
});

test('a failed installation ends with the reason and the command that tries again', async () => {
  const npm = "console.error('npm error network: no way'); process.exit(7);";
  expect(await installWith(npm)).toEqual({
    code: 7,
    stdout: '',
    stderr:
      `${begin}npm error network: no way\n` +
      'The packages could not be installed (npm ended with 7). Try again with: npm ci\n',
  });
});

test.each([
  [false, ['Still installing: 10 s …', 'Still installing: 20 s …']],
  [true, []],
])('every ten seconds it says so where npm has no terminal (terminal: %s)', async (is, lines) => {
  const { install } = (await import(script)) as {
    install(parts: Installation): Promise<number>;
  };
  const said: string[] = [];
  const { promise, resolve } = Promise.withResolvers<Npm>();
  const ticks: (() => void)[] = [];
  let isStopped = false;
  const ended = install({
    npm: () => promise,
    say: (text) => void said.push(text),
    every(ms, listener) {
      expect(ms).toBe(10_000);
      ticks.push(listener);
      return () => {
        isStopped = true;
      };
    },
    isTerminal: is,
  });
  for (const tick of [...ticks, ...ticks]) tick();
  resolve({ code: 0, said: '' });
  expect(await ended).toBe(0);
  expect(said).toEqual([begin.trim(), ...lines]);
  expect(isStopped).toBe(true);
});
