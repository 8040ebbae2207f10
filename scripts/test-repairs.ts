/**
 * `npm run test:repairs [-- <filter>…]`: the regression tests in the folders `test/repairs` of the
 * packages, each file named after its point. Filters are those of vitest: `b18` runs the files with
 * that in their path. The last line is `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './command.ts';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

const file = join(repositoryRoot, 'dist/repairs-results.json');
rmSync(file, { force: true });
const vitest = join(repositoryRoot, 'node_modules/vitest/vitest.mjs');
const args = [vitest, 'run', '--config', 'vitest.repairs.config.ts', ...process.argv.slice(2)];
const child = spawn(process.execPath, args, { cwd: repositoryRoot, stdio: 'inherit' });
const [code] = (await once(child, 'exit')) as [number | null];
const { passed, failed } = counts();
// A file that does not load fails no test: the exit code tells.
const wrong = code === 0 ? failed : Math.max(failed, 1);
console.log(`${passed} passed, ${wrong} failed`);
process.exitCode = wrong === 0 && passed > 0 ? 0 : 1;

function counts(): { readonly passed: number; readonly failed: number } {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(file, 'utf8')) as Report;
    return { passed: numPassedTests, failed: numFailedTests };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
