/** `npm run check`: everything that can be said about the code without running it. Runs all parts and then says which failed. */
import { runCommand, runJobs } from './command.ts';

await runJobs(
  [
    { name: 'format and lint (biome; "npm run format" repairs)', run: () => runCommand('npx', ['biome', 'check', '--error-on-warnings', '.']) },
    { name: 'types (tsc)', run: () => runCommand('npx', ['tsc', '-p', 'tsconfig.json']) },
    {
      name: 'architecture (packages/core/test)',
      run: () => runCommand('npx', ['vitest', 'run', '--reporter=default', 'packages/core/test/architecture']),
    },
    {
      name: 'unused files, exports and dependencies (knip)',
      run: () => runCommand('npx', ['knip', '--no-progress', '--treat-config-hints-as-errors']),
    },
  ],
  1,
);
