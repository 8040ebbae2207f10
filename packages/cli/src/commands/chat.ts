import { defined } from 'adjutant/text';
import type { RunContext } from '../actions/carry-out.ts';
import type { ChatLook } from '../actions/chat.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import {
  agentCommand,
  withAgent,
  withAskBefore,
  withLane,
  withServer,
  withSession,
} from '../grammar/option-groups.ts';

type ChatFlags = RunContext['options'] & ChatLook & { readonly session?: string };

/** Adds `adjutant chat`. */
export const addChatCommand: AddCommand = (program, { host, interruption, early, onExitCode }) => {
  const description = 'talk to the agent; line by line where there is no terminal';
  const command = withServer(withAgent(agentCommand(program, 'chat', description)))
    .option('--plain', 'line by line in a terminal, too; /exit or Ctrl-D ends')
    .option('--json', 'line by line, with every event as a line of JSON, then the result')
    .option('--screen-reader', 'words for signs and numbered questions; nothing is painted again')
    .option('--ascii', 'signs for terminals that show ASCII only');
  withAskBefore(withLane(withSession(command))).action(
    async ({ session, plain, ascii, screenReader, ...options }: ChatFlags) => {
      const { chat } = await import('../actions/chat.ts');
      onExitCode(
        await chat(
          { host, interruption, options, early },
          session,
          defined({ plain, ascii, screenReader }),
        ),
      );
    },
  );
};
