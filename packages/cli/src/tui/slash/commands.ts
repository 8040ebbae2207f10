import type { SlashCommand } from '../app/control.ts';
import { answerCommands } from './answer-commands.ts';
import { helpCommand } from './help.ts';
import { lookCommands } from './look-commands.ts';
import { sessionCommands } from './session-commands.ts';

const leaving: SlashCommand = {
  name: 'quit',
  words: '',
  summary: 'leave; the session is kept',
  run: (app) => app.leave(),
};

/** All commands, in the order of the help. */
export const slashCommands: readonly SlashCommand[] = [
  helpCommand(() => slashCommands),
  ...sessionCommands,
  ...lookCommands,
  ...answerCommands,
  leaving,
];
