import type { ReopenCommandOptions } from '../actions/reopen.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withLane, withServer } from '../grammar/option-groups.ts';
import { notEmpty, sessionId } from '../grammar/option-values.ts';

/** Adds `adjutant reopen`. */
export const addReopenCommand: AddCommand = (program, { host, onExitCode }) => {
  const description = 'open a failed or cancelled run of a session again';
  withLane(withServer(ledgerCommand(program, 'reopen', description)))
    .argument('<session>', 'id of the session', sessionId)
    .requiredOption('--reason <text>', 'why; the ledger has it', notEmpty)
    .option(
      '--path <path>',
      'the part of the run to open (default: the last run, with every part that failed)',
      notEmpty,
    )
    .option('--json', 'print a line of JSON')
    .action(async (session: string, options: ReopenCommandOptions) => {
      const { reopenSession } = await import('../actions/reopen.ts');
      onExitCode(await reopenSession(host, session, options));
    });
};
