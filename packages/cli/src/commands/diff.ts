import type { DiffCommandOptions } from '../actions/diff.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand } from '../grammar/option-groups.ts';
import { sessionId } from '../grammar/option-values.ts';
import { givenSession } from '../grammar/session-argument.ts';

/** Adds `adjutant diff`. */
export const addDiffCommand: AddCommand = (program, { host, onExitCode }) => {
  ledgerCommand(program, 'diff', 'show where two sessions part: exit code 1 where they do')
    .argument('<a>', 'id of a session, or a file that export has written', sessionId)
    .argument('[b]', 'another one (default: the last session)', sessionId)
    .option('--json', 'print a line of JSON')
    .action(async (a: string, b: string | undefined, options: DiffCommandOptions) => {
      const { diffSessions } = await import('../actions/diff.ts');
      onExitCode(await diffSessions(host, a, givenSession(b, {}), options));
    });
};
