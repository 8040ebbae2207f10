/**
 * Tests of one agent (testing/) in two test runners, as `npx vitest run testing/bookings.test.ts`
 * and `npx jest` run them. In vitest also a recorded session that is a regression test.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const require = createRequire(import.meta.url);
const packageFolder = (name: string): string => dirname(require.resolve(`${name}/package.json`));

/** Output of a runner; its own reports of colours and cursors are switched off. */
function runTests(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', CI: 'true', NODE_OPTIONS: '' },
  });
  const output = `${stdout}${stderr}`;
  assert.equal(status, 0, output);
  return output;
}

const inVitest = runTests(
  join(packageFolder('vitest'), 'vitest.mjs'),
  'run',
  '--reporter=verbose',
  'examples/testing',
);
console.log(inVitest);
assert.match(inVitest, /✓ .*tool call with yield/);
assert.match(inVitest, /✓ .*incidents\/fully-booked\.ledger\.json/);
assert.match(inVitest, /Tests\s+\d+ passed/);

// Adjutant is made of ES modules, which jest runs with this flag.
const inJest = runTests(
  '--experimental-vm-modules',
  join(packageFolder('jest'), 'bin/jest.js'),
  '--config',
  'examples/testing/jest.config.json',
);
console.log(inJest);
assert.match(inJest, /✓ tool call with yield/);
assert.match(inJest, /Tests:\s+\d+ passed/);
