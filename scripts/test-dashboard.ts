/**
 * `npm run test:dashboard`: builds the dashboard, checks its types, and runs its tests in Chromium
 * on the built page. `--long` takes ten sessions and 200 places, and does it all again on
 * PostgreSQL. `--pictures` renews those of the guide. Other words are filters of Vitest.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './command.ts';

interface Step {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

const words = process.argv.slice(2);
const isLong = words.includes('--long');
const filters = words.filter((word) => !word.startsWith('--'));
const folder = join(repositoryRoot, 'packages/dashboard');
const suite = ['scripts/test-suite.ts', 'dashboard', ...filters];
const steps: readonly Step[] = [
  { args: ['scripts/dashboard.ts', 'build'], cwd: repositoryRoot },
  { args: [join(folder, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'], cwd: folder },
  { args: suite, cwd: repositoryRoot },
  ...(isLong
    ? [
        {
          args: ['scripts/with-postgres.ts', process.execPath, ...suite],
          cwd: repositoryRoot,
          env: { DASHBOARD_STORE: 'postgres' },
        },
      ]
    : []),
];
for (const { args, cwd, env } of steps) {
  const { status } = spawnSync(process.execPath, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...(isLong ? { DASHBOARD_LONG: '1' } : {}), ...env },
  });
  if (status === 0) continue;
  // The suite itself says how many tests failed.
  if (!args.includes('dashboard')) console.log('0 passed, 1 failed');
  process.exit(1);
}
if (words.includes('--pictures'))
  for (const name of ['session', 'fork', 'compare'])
    copyFileSync(
      join(repositoryRoot, `dist/browser-tests/${name}-light-1280.png`),
      join(repositoryRoot, `docs/pictures/dashboard-${name}.png`),
    );
