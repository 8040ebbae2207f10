import { Option } from 'commander';
import type { SessionsOptions } from '../actions/sessions.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../grammar/option-groups.ts';
import { notEmpty, positiveInteger } from '../grammar/option-values.ts';

/** Adds `adjutant sessions`. */
export const addSessionsCommand: AddCommand = (program, { host, onExitCode }) => {
  withServer(ledgerCommand(program, 'sessions', 'list the sessions, newest first'))
    .option('--limit <number>', 'how many at most', positiveInteger, 50)
    .option('--all', 'those of other folders, too, where they share a store')
    .addOption(
      new Option('--status <status>', 'only those in this state').choices([
        'active',
        'awaiting_input',
        'sleeping',
        'completed',
        'error',
      ]),
    )
    .option('--runnable <name>', 'only those whose last run was of this runnable', notEmpty)
    .option('--user <id>', 'only those of this user', notEmpty)
    .option('--text <words>', 'only those whose messages have all of these words', notEmpty)
    .option('--json', 'print each session as a line of JSON')
    .action(async (options: SessionsOptions) => {
      const { listSessions } = await import('../actions/sessions.ts');
      onExitCode(await listSessions(host, options));
    });
};
