import { runCli } from './cli.ts';
import { processHost } from './host.ts';

process.exitCode = await runCli(process.argv.slice(2), processHost());
