/**
 * `npm run check`: everything that can be said about the code without running it. Runs all parts
 * and then says which failed.
 */
import { runCommand, runJobs } from './command.ts';

await runJobs(
  [
    {
      name: 'format and lint (biome; "npm run format" repairs)',
      run: () => runCommand('biome', ['check', '--error-on-warnings', '.']),
    },
    { name: 'types (tsc)', run: () => runCommand('tsc', ['-p', 'tsconfig.json']) },
    {
      name: 'architecture (packages/core/test)',
      run: () =>
        runCommand('vitest', ['run', '--reporter=default', 'packages/core/test/architecture']),
    },
    {
      name: 'public names ("npm run api-report" writes docs/reference/api.md)',
      run: () => runCommand('node', ['scripts/api-report.ts', '--check']),
    },
    {
      name: 'structure ("npm run structure" prints the table)',
      run: () =>
        runCommand('node', ['--conditions=adjutant-source', 'scripts/structure.ts', '--check']),
    },
    {
      name: 'unused files, exports and dependencies (knip)',
      run: () => runCommand('knip', ['--no-progress', '--treat-config-hints-as-errors']),
    },
  ],
  1,
);
