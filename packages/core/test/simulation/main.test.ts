import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** Runs the command to its end. */
async function simulateCommand(args: readonly string[], options = ''): Promise<Ended> {
  const child = spawn(
    process.execPath,
    ['--conditions=adjutant-source', join(import.meta.dirname, 'main.ts'), ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: options },
    },
  );
  const said = { out: '', error: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.error += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { code, ...said };
}

test.each<[readonly string[], string]>([
  [['--sed', '3'], "Unknown option '--sed'"],
  [['--seed', 'abc'], '--seed must be a whole number from 1, not "abc".'],
  [['--seeds', '0'], '--seeds must be a whole number from 1, not "0".'],
  [['--hours', '1.5'], '--hours must be a whole number from 1, not "1.5".'],
  [['--worker', 'abc'], '--worker must be a whole number from 1, not "abc".'],
  [['--worker', '1,,2'], '--worker must be a whole number from 1, not "".'],
  [['--seed', '4294967296'], 'Seeds end at 4294967295: 4294967296 to 4294967395 go beyond.'],
  [['--seeds', '3', '--hours', '7'], '--seeds and --hours both say how much is simulated'],
  [['--short', '--seed', '7'], '--short has fixed seeds and hours: leave out --seed, or --short.'],
  [['--short', '--hours', '7'], 'leave out --hours'],
])('arguments %j are refused in one line', async (args, message) => {
  const { code, error, out } = await simulateCommand(args);
  expect(error).toContain(message);
  expect(error.trimEnd().split('\n')).toHaveLength(1);
  expect(out).toBe('');
  expect(code).toBe(2);
});

test('seeds of a process that dies have failed', async () => {
  const dies = "process.argv.includes('--worker')&&process.kill(process.pid,'SIGKILL')";
  const { code, out } = await simulateCommand(
    ['--seed', '5', '--seeds', '3'],
    `--import=data:text/javascript,${dies}`,
  );
  expect(out).toContain('seed 5: its process ended (SIGKILL) before it had reported this seed');
  expect(out).toContain('again: npm run simulate -- --seed 5 --seeds 1');
  expect(out).toContain('\n3 cases, 3 failed\n');
  expect(code).toBe(1);
});
