/**
 * `npm run test:temporal`: the tests of `packages/temporal` on a real server. Installs the packages
 * of that folder by their own lockfile, checks the types, and runs the suite. Words are filters of
 * Vitest. The last line is `N passed, N failed`.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from './command.ts';
import { temporalFolder as folder, installTemporalPackages } from './temporal-packages.ts';

/** Runs a step; when it fails, so has the suite. */
function step(program: string, args: readonly string[], isCounted = false): void {
  const { status } = spawnSync(program, args, { cwd: repositoryRoot, stdio: 'inherit' });
  if (status === 0) return;
  // The suite itself says how many tests failed.
  if (!isCounted) console.log('0 passed, 1 failed');
  process.exit(1);
}

try {
  installTemporalPackages();
} catch (error) {
  console.error(error);
  console.log('0 passed, 1 failed');
  process.exit(1);
}
const tsc = join(repositoryRoot, 'node_modules/typescript/bin/tsc');
step(process.execPath, [tsc, '-p', join(folder, 'tsconfig.json')]);
const suite = [process.execPath, 'scripts/test-suite.ts', 'temporal', ...process.argv.slice(2)];
step(process.execPath, ['scripts/with-temporal.ts', ...suite], true);
