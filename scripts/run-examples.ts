/**
 * `npm run examples`: runs every numbered example, which checks its own output with `node:assert`.
 */
import { globSync } from 'node:fs';
import { bundlePackages } from './bundled-packages.ts';
import { repositoryRoot, runCommand, runJobs } from './command.ts';

const examples = globSync('examples/[0-9][0-9]-*.ts', { cwd: repositoryRoot }).sort();

await bundlePackages();
await runJobs(
  examples.map((name) => ({
    name,
    run: () => runCommand(process.execPath, [name], { timeoutSeconds: 120 }),
  })),
  2,
);
