import type { RunContext } from '../actions/carry-out.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { agentCommand, withLane, withServer } from '../grammar/option-groups.ts';
import {
  givenSession,
  type SessionFlag,
  withSessionArgument,
} from '../grammar/session-argument.ts';

/** Adds `adjutant resume`. */
export const addResumeCommand: AddCommand = (program, { host, interruption, onExitCode }) => {
  const description = 'continue a run that was stopped or killed';
  withSessionArgument(withLane(withServer(agentCommand(program, 'resume', description))))
    .option('--json', 'print every event as a line of JSON, then the result')
    .action(async (named: string | undefined, options: RunContext['options'] & SessionFlag) => {
      const { resumeSession } = await import('../actions/resume.ts');
      onExitCode(
        await resumeSession({ host, interruption, options }, givenSession(named, options)),
      );
    });
};
