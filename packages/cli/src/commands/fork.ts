import type { ForkCommandOptions } from '../actions/forks/fork.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../grammar/option-groups.ts';
import { gatheredTexts, notEmpty, sessionId, wholeNumber } from '../grammar/option-values.ts';

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
    .option(
      '--set <[scope:]key=value>',
      'begin it with this value of the state, as JSON or as text; repeatable',
      gatheredTexts,
    )
    .option(
      '--unset <[scope:]key>',
      'begin it without this key of the state; repeatable',
      gatheredTexts,
    )
    .option(
      '--instructions <text>',
      'the instructions of the agent in the whole fork (-: standard input)',
      notEmpty,
    )
    .option('--agent <name>', 'whose instructions (default: the agent that acted last)', notEmpty)
    .option(
      '--message <text>',
      'stands in the place of the last message of the user, whose run has not ended',
      notEmpty,
    )
    .option('--json', 'print a line of JSON')
    .action(async (session: string, options: ForkCommandOptions) => {
      const { forkSession } = await import('../actions/forks/fork.ts');
      onExitCode(await forkSession(host, session, options));
    });
};
