import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));

test('the contracts of stores and models run under jest', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'adjutant-jest-contracts-'));
  const outputFile = join(folder, 'report.json');
  const config = [
    '--config',
    'packages/core/test/testing/jest/jest.config.json',
    '--ci',
    '--cacheDirectory',
    join(folder, 'cache'),
  ];
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  // Set by the vitest that this test runs in: under jest alone it is not there.
  const { VITEST: _vitest, ...env } = process.env;
  spawnSync(
    process.execPath,
    [...jest, ...config, '--json', '--outputFile', outputFile, 'contracts.jest.ts'],
    {
      cwd: root,
      env: { ...env, NODE_OPTIONS: '' },
    },
  );
  const report = JSON.parse(readFileSync(outputFile, 'utf8')) as {
    readonly numPassedTests: number;
    readonly numFailedTests: number;
  };
  rmSync(folder, { recursive: true });
  expect(report.numFailedTests).toBe(0);
  expect(report.numPassedTests).toBeGreaterThan(150);
});
