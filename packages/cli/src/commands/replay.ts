import type { ReplayCommandOptions } from '../actions/replay.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand } from '../grammar/option-groups.ts';
import { notEmpty, positiveInteger } from '../grammar/option-values.ts';
import {
  givenSession,
  type SessionFlag,
  withSessionArgument,
} from '../grammar/session-argument.ts';

/** Adds `adjutant replay`. */
export const addReplayCommand: AddCommand = (program, { host, onExitCode }) => {
  const description =
    'hold the present code against a recorded session: exit code 1 where it does something else';
  const record = 'id of the session, or a file that export has written';
  withSessionArgument(ledgerCommand(program, 'replay', description), record)
    .option('--until <seq>', 'only the events up to this one', positiveInteger)
    .option('--live-model', 'ask the models again, in the place of their recorded answers')
    .option(
      '--live-tools',
      'run the tools again, with their effects, in the place of their recorded results; ' +
        'all divergences are shown',
    )
    .option(
      '--model <name>',
      'another model for the agent of the command line (default: that of the record)',
      notEmpty,
    )
    .option(
      '--root <folder>',
      'folder that the file tools can see (default: the present one)',
      notEmpty,
    )
    .option('--json', 'print a line of JSON')
    .action(async (named: string | undefined, options: ReplayCommandOptions & SessionFlag) => {
      const { replayRecord } = await import('../actions/replay.ts');
      onExitCode(await replayRecord(host, givenSession(named, options), options));
    });
};
