import type { RunContext } from '../actions/carry-out.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import {
  agentCommand,
  withAgent,
  withAskBefore,
  withLane,
  withSession,
} from '../grammar/option-groups.ts';

type ChatFlags = RunContext['options'] & { readonly session?: string };

/** Adds `adjutant chat`. */
export const addChatCommand: AddCommand = (program, { host, interruption, onExitCode }) => {
  const description = 'talk to the agent, line by line; /exit or Ctrl-D ends';
  const command = withAgent(agentCommand(program, 'chat', description));
  withAskBefore(withLane(withSession(command))).action(
    async ({ session, ...options }: ChatFlags) => {
      const { chat } = await import('../actions/chat.ts');
      onExitCode(await chat({ host, interruption, options }, session));
    },
  );
};
