import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { EvalReport } from 'adjutant/eval';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'adjutant-killing-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const calls = join(folder, 'calls');
writeFileSync(calls, '');

/**
 * Evaluates in a process of its own, which is killed when it has run so many trials. @returns what
 * it said
 */
async function evaluating(killAfter: number): Promise<readonly string[]> {
  const program = new URL('./eval-process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, join(folder, 'evals.db'), calls], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: string[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push(line);
    if (said.filter((one) => one.startsWith('ran ')).length >= killAfter) child.kill('SIGKILL');
  });
  child.once('close', () => resolve());
  await ended;
  return said;
}

test('an eval whose process is killed again and again finishes with every ' +
  'trial run once', async () => {
  const kills = [1, 4, 7, 3];
  for (const after of kills)
    expect((await evaluating(after)).some((line) => line.startsWith('{'))).toBe(false);
  const last = await evaluating(Number.POSITIVE_INFINITY);
  const report = JSON.parse(last.at(-1) ?? '') as EvalReport;
  expect(report).toMatchObject({ total: 30, done: 30, passed: true });
  expect(last.filter((line) => line.startsWith('recorded ')).length).toBeGreaterThanOrEqual(
    1 + 4 + 7 + 3,
  );
  // Two calls of the agent and one of the judge for each trial; at each kill a round of two, or a
  // judge, of each of the four workers may have been under way.
  const made = readFileSync(calls, 'utf8').trim().split('\n').length;
  expect(made).toBeGreaterThanOrEqual(90);
  expect(made).toBeLessThanOrEqual(90 + kills.length * 4 * 2);
}, 120_000);
