import type { CancelOptions } from '../actions/cancel.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withLane, withServer } from '../grammar/option-groups.ts';
import { notEmpty, sessionId } from '../grammar/option-values.ts';

/** Adds `adjutant cancel`. */
export const addCancelCommand: AddCommand = (program, { host, onExitCode }) => {
  const description = 'end the run that a session has open, whoever works on it';
  withLane(withServer(ledgerCommand(program, 'cancel', description)))
    .argument('<session>', 'id of the session', sessionId)
    .option('--reason <text>', 'why', notEmpty)
    .option('--json', 'print a line of JSON')
    .action(async (session: string, options: CancelOptions) => {
      const { cancelSession } = await import('../actions/cancel.ts');
      onExitCode(await cancelSession(host, session, options));
    });
};
