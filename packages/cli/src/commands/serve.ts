import type { ServeCommandOptions } from '../actions/serve.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { withEngine } from '../grammar/engine-options.ts';
import { agentCommand } from '../grammar/option-groups.ts';
import { gathered, notEmpty, portNumber } from '../grammar/option-values.ts';

/** Adds `adjutant serve`, which serves an app over HTTP. */
export const addServeCommand: AddCommand = (program, parts) => {
  const command = agentCommand(
    program,
    'serve',
    'serve an app over HTTP: that of adjutant.config.ts, else the agent of the command line',
  );
  withEngine(command)
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
    .option('--open', 'open the dashboard in the browser')
    .option('--no-dashboard', 'serve no dashboard')
    .option('--json', 'print a line of JSON when it listens')
    .action(async (options: ServeCommandOptions) => {
      const { serveApp } = await import('../actions/serve.ts');
      parts.onExitCode(await serveApp({ ...parts, options }));
    });
};
