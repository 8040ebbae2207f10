import type { DeleteCommandOptions } from '../actions/delete.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../grammar/option-groups.ts';
import { sessionId } from '../grammar/option-values.ts';

/** Adds `adjutant delete`. */
export const addDeleteCommand: AddCommand = (program, { host, onExitCode }) => {
  withServer(ledgerCommand(program, 'delete', 'remove a session for good'))
    .argument('<session>', 'id of the session', sessionId)
    .option('--with-forks', 'its forks, too, and all that they share')
    .option('--json', 'print a line of JSON')
    .action(async (session: string, options: DeleteCommandOptions) => {
      const { deleteSession } = await import('../actions/delete.ts');
      onExitCode(await deleteSession(host, session, options));
    });
};
