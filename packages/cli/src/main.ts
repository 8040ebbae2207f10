import { refuseOldNode } from './node-version.ts';

/** Exit code of a usage error. It repeats failure.ts, which an old Node may not be able to read. */
const usage = 2;

const refusal = refuseOldNode(process.versions.node);
if (refusal === undefined) await start();
else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = usage;
}

/**
 * Loads the rest of the program only here. An older Node fails at unknown names and syntax, before
 * a line has run.
 */
async function start(): Promise<void> {
  const { enableCompileCache } = await import('node:module');
  // The cache must be enabled before anything else is loaded. From its second start on, the program
  // then starts in half the time.
  enableCompileCache();
  const args = process.argv.slice(2);
  const { takeTerminal } = await import('./host/first-words.ts');
  const { processSignals: signals } = await import('./host/process-signals.ts');
  const { stdin, stdout, env } = process;
  const early = takeTerminal(args, { stdin, stdout, env, signals });
  const { runCli } = await import('./cli.ts');
  const { processHost } = await import('./host/host.ts');
  process.exitCode = await runCli(args, processHost(), early);
}
