import type { ServeCommandOptions } from '../../actions/serve.ts';
import type { AddCommand } from '../../grammar/add-command.ts';
import { withConfig } from '../../grammar/option-groups.ts';
import { notEmpty, portNumber } from '../../grammar/option-values.ts';

/** Adds `adjutant dev`. */
export const addDevCommand: AddCommand = (program, parts) => {
  withConfig(
    program
      .command('dev')
      .description('serve the app of adjutant.config.ts, with reload and a log of its runs'),
  )
    .option(
      '--port <number>',
      'port to listen on, 0 for one that is free (default: 8787)',
      portNumber,
    )
    .option('--hostname <name>', 'address to listen on (default: 127.0.0.1)', notEmpty)
    .action(async (options: ServeCommandOptions) => {
      const { serveWhileDeveloping } = await import('../../dev/dev.ts');
      parts.onExitCode(await serveWhileDeveloping({ ...parts, options }));
    });
};
