import type { Command } from 'commander';
import type { RunContext } from '../actions/carry-out.ts';
import { UsageError } from '../failure.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import {
  agentCommand,
  withAgent,
  withAskBefore,
  withLane,
  withServer,
  withSession,
} from '../grammar/option-groups.ts';

type RunFlags = RunContext['options'] & { readonly session?: string };

/** Adds `adjutant run`, which the arguments may leave out. */
export const addRunCommand: AddCommand = (program, { host, interruption, onExitCode }) => {
  const command = withServer(
    agentCommand(
      program,
      'run [goal...]',
      'run an agent on a goal, with the text of a pipe or of - (the command may be left out: ' +
        'adjutant "goal")',
    ),
  );
  withAskBefore(withLane(withSession(withAgent(command))))
    .option('--json', 'print every event as a line of JSON, then the result')
    .action(async (words: string[], { session, ...options }: RunFlags) => {
      const { runGoal } = await import('../actions/run.ts');
      refuseMisplacedCommand(program, words);
      const { withGivenText } = await import('../host/given-text.ts');
      const goal = await withGivenText(host, words);
      onExitCode(await runGoal({ host, interruption, options }, goal, session));
    });
};

/**
 * Refuses a command name as the only word of a goal. In `adjutant --store x.db sessions` it follows
 * the options, and would be run as a goal.
 */
function refuseMisplacedCommand(program: Command, words: readonly string[]): void {
  const [first = ''] = words;
  if (words.length > 1) return;
  const commands = program.createHelp().visibleCommands(program);
  if (!commands.some((command) => command.name() === first)) return;
  throw new UsageError({
    reason:
      `"${first}" is a command: write it first, before its options. As a goal it needs more ` +
      'words.',
  });
}
