import { type Command, Option } from 'commander';
import { notEmpty } from './option-values.ts';

/** Adds the options that choose the engine of an app. */
export function withEngine(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--engine <name>',
        'what keeps runs moving (default: that of the app, else embedded)',
      ).choices(['embedded', 'temporal']),
    )
    .option(
      '--temporal-address <host:port>',
      'address of the Temporal server (default: that of `temporal` in the configuration, else ' +
        '127.0.0.1:7233)',
      notEmpty,
    )
    .option(
      '--temporal-namespace <name>',
      'namespace of the Temporal server (default: likewise, else default)',
      notEmpty,
    )
    .option(
      '--temporal-queue <name>',
      'task queue of the workers of the app (default: likewise, else by the name of the app)',
      notEmpty,
    );
}
