import { refuseOldNode } from './node-version.ts';

/**
 * Exit code of what cannot be carried out as it was called, as in failure.ts, which an old Node may
 * not be able to read.
 */
const usage = 2;

const refusal = refuseOldNode(process.versions.node);
if (refusal === undefined) await start();
else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = usage;
}

/**
 * Loads everything else only here: an older Node stops at names and syntax that it does not know,
 * before a line has run.
 */
async function start(): Promise<void> {
  const { enableCompileCache } = await import('node:module');
  // Before anything else is loaded: from its second start on, the program starts in half the time.
  enableCompileCache();
  const { runCli } = await import('./cli.ts');
  const { processHost } = await import('./host.ts');
  process.exitCode = await runCli(process.argv.slice(2), processHost());
}
