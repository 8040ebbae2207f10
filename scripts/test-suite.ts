/**
 * `node scripts/test-suite.ts <suite> [<filter>…]`: a suite of vitest.suites.ts. Filters are those
 * of Vitest: `clocks` runs the files with that in their path. The last line is `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { reportsFolder, suites } from '../vitest.suites.ts';
import { repositoryRoot } from './command.ts';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
}

const [suite = '', ...filters] = process.argv.slice(2);
if (!Object.hasOwn(suites, suite))
  throw new Error(`There is no suite "${suite}". There are ${Object.keys(suites).join(', ')}.`);
const file = join(repositoryRoot, reportsFolder, `${suite}.json`);
rmSync(file, { force: true });
const vitest = join(repositoryRoot, 'node_modules/vitest/vitest.mjs');
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
const args = [vitest, 'run', '--project', suite, ...reporters, ...filters];
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
