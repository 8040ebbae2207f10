import type { Command } from 'commander';
import type { ServeCommandOptions } from './commands/serve.ts';
import type { Host } from './host.ts';
import type { Interruption } from './interruption.ts';
import { agentCommand, withConfig } from './program-commands.ts';
import { gathered, notEmpty, portNumber } from './program-values.ts';

interface Parts {
  readonly host: Host;
  readonly interruption: Interruption;
  readonly onExitCode: (code: number) => void;
}

/** Adds the command that serves an app over HTTP. */
export function addServeCommand(program: Command, parts: Parts): void {
  withConfig(
    agentCommand(
      program,
      'serve',
      'serve an app over HTTP: that of adjutant.config.ts, else the agent of the command line',
    ),
  )
    .option(
      '--port <number>',
      'port to listen on, 0 for one that is free (default: 8787)',
      portNumber,
    )
    .option(
      '--hostname <name>',
      'address to listen on; others than this machine need keys or tokens (default: 127.0.0.1)',
      notEmpty,
    )
    .option(
      '--ask-before <tool>',
      'wait for approval before this tool, in sessions that do not say otherwise; may be ' +
        'given again',
      gathered,
    )
    .option('--json', 'print a line of JSON when it listens')
    .action(async (options: ServeCommandOptions) => {
      const { serveApp } = await import('./commands/serve.ts');
      parts.onExitCode(await serveApp({ ...parts, options }));
    });
}
