import type { RunContext } from '../actions/carry-out.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { agentCommand, withLane, withServer } from '../grammar/option-groups.ts';
import { sessionId } from '../grammar/option-values.ts';

/** Adds `adjutant resume`. */
export const addResumeCommand: AddCommand = (program, { host, interruption, onExitCode }) => {
  withLane(withServer(agentCommand(program, 'resume', 'continue a run that was stopped or killed')))
    .argument('<session>', 'id of the session', sessionId)
    .option('--json', 'print every event as a line of JSON, then the result')
    .action(async (session: string, options: RunContext['options']) => {
      const { resumeSession } = await import('../actions/resume.ts');
      onExitCode(await resumeSession({ host, interruption, options }, session));
    });
};
