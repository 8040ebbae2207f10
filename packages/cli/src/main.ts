import { enableCompileCache } from 'node:module';

// Before anything else is loaded: from its second start on, the program starts in half the time.
enableCompileCache();
const { runCli } = await import('./cli.ts');
const { processHost } = await import('./host.ts');

process.exitCode = await runCli(process.argv.slice(2), processHost());
