import type { AppControl, SlashCommand } from '../app/control.ts';
import { unknownCommand } from '../editor/commands.ts';
import { answerCommands } from './answer-commands.ts';
import { helpCommand } from './help.ts';
import { lookCommands } from './look-commands.ts';
import { openPalette } from './palette.ts';
import { sessionCommands } from './session-commands.ts';
import { textCommands } from './text-commands.ts';
import { viewCommands } from './view-commands.ts';

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
  ...viewCommands,
  ...answerCommands,
  ...textCommands,
  leaving,
];

/** Opens the palette: requests, commands, agents and sessions. */
export function openCommandPalette(app: AppControl): Promise<void> {
  return openPalette(app, slashCommands);
}

/** Finds the command of a name. Returns a text when it cannot be carried out now. */
export function commandNow(name: string, isWorking: boolean, agent: string): SlashCommand | string {
  const command = slashCommands.find((one) => one.name === name);
  if (command === undefined)
    return unknownCommand(
      name,
      slashCommands.map((one) => one.name),
    );
  if (command.waitsForAgent === true && isWorking)
    return `/${name} has to wait: ${agent} works. Esc interrupts.`;
  return command;
}
