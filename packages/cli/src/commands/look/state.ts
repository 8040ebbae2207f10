import type { StateCommandOptions } from '../../actions/look/state.ts';
import type { AddCommand } from '../../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../../grammar/option-groups.ts';
import { sessionId, wholeNumber } from '../../grammar/option-values.ts';

/** Adds `adjutant state`. */
export const addStateCommand: AddCommand = (program, { host, onExitCode }) => {
  withServer(ledgerCommand(program, 'state', 'show the state of a session after any event'))
    .argument('[session]', 'id of the session (default: the newest)', sessionId)
    .option('--at <seq>', 'the state after this event (default: the last one)', wholeNumber)
    .option('--json', 'print the state as a line of JSON')
    .action(async (session: string | undefined, options: StateCommandOptions) => {
      const { showState } = await import('../../actions/look/state.ts');
      onExitCode(await showState(host, session, options));
    });
};
