import type { RunContext } from '../actions/carry-out.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { agentCommand, withAskBefore, withLane, withSession } from '../grammar/option-groups.ts';

type ChatFlags = RunContext['options'] & { readonly session?: string };

/** Adds `adjutant chat`. */
export const addChatCommand: AddCommand = (program, { host, interruption, onExitCode }) => {
  const description = 'talk to the agent, line by line; /exit or Ctrl-D ends';
  withAskBefore(withLane(withSession(agentCommand(program, 'chat', description)))).action(
    async ({ session, ...options }: ChatFlags) => {
      const { chat } = await import('../actions/chat.ts');
      onExitCode(await chat({ host, interruption, options }, session));
    },
  );
};
