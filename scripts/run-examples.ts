/**
 * `npm run examples`: runs every numbered example, which checks its own output with `node:assert`.
 */
import { globSync } from 'node:fs';
import { repositoryRoot, runCommand, runJobs } from './command.ts';

const examples = globSync('examples/[0-9][0-9]-*.ts', { cwd: repositoryRoot }).sort();

await runJobs(
  examples.map((name) => ({
    name,
    run: () =>
      runCommand(process.execPath, ['--conditions=adjutant-source', name], { timeoutSeconds: 120 }),
  })),
  2,
);
