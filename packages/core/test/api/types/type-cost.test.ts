import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));

const flags = [
  '--ignoreConfig',
  '--noEmit',
  '--extendedDiagnostics',
  '--strict',
  '--skipLibCheck',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--allowImportingTsExtensions',
  ...[
    '--target',
    'es2024',
    '--module',
    'nodenext',
    '--moduleResolution',
    'nodenext',
    '--customConditions',
    'adjutant-source',
    '--types',
    'node',
  ],
];

function instantiations(file: string): number {
  const report = execFileSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', ...flags, `packages/core/test/api/types/${file}`],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  return Number(/Instantiations:\s+(\d+)/.exec(report)?.[1]);
}

/**
 * The work of a user's editor for an ordinary agent, beyond what importing the packages costs.
 */
test('an agent with a typed tool costs few type instantiations', () => {
  const baseline = instantiations('empty.ts');
  expect(baseline).toBeGreaterThan(0);
  expect(instantiations('readme-example.ts') - baseline).toBeLessThan(4_000);
});

test('agents whose answers have types cost few type instantiations', () => {
  const cost = instantiations('structured-output.ts') - instantiations('empty.ts');
  expect(cost).toBeGreaterThan(0);
  expect(cost).toBeLessThan(4_000);
});

test('compositions, hand-over cycles and runs that go on cost few type instantiations', () => {
  const cost = instantiations('compositions.ts') - instantiations('empty.ts');
  expect(cost).toBeGreaterThan(0);
  expect(cost).toBeLessThan(2_500);
});
