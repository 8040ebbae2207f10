import type { ForkCommandOptions } from '../actions/fork.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../grammar/option-groups.ts';
import { sessionId, wholeNumber } from '../grammar/option-values.ts';

/** Adds `adjutant fork`. */
export const addForkCommand: AddCommand = (program, { host, onExitCode }) => {
  const description = 'make a session that goes its own way from a place in another one';
  withServer(ledgerCommand(program, 'fork', description))
    .argument('<session>', 'id of the session', sessionId)
    .requiredOption(
      '--at <seq>',
      'the last event that the fork has, as show --events numbers them',
      wholeNumber,
    )
    .option('--id <id>', 'id of the fork (default: a new one)', sessionId)
    .option('--json', 'print a line of JSON')
    .action(async (session: string, options: ForkCommandOptions) => {
      const { forkSession } = await import('../actions/fork.ts');
      onExitCode(await forkSession(host, session, options));
    });
};
