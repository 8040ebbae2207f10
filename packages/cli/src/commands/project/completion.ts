import type { Command, Option } from 'commander';
import type { CompletedCommand } from '../../actions/completion.ts';
import type { AddCommand } from '../../grammar/add-command.ts';

/** Adds `adjutant completion`, and the hidden command that its scripts call. */
export const addCompletionCommand: AddCommand = (program, { host, onExitCode }) => {
  program
    .command('completion')
    .description('print the script that completes commands in a shell')
    .argument('<shell>', 'bash, zsh, fish or powershell')
    .action(async (shell: string) => {
      const { completionScript } = await import('../../output/completion-scripts.ts');
      host.stdout.write(completionScript(shell));
    });
  program
    .command('complete-words', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { completeWords } = await import('../../actions/completion.ts');
      onExitCode(await completeWords(host, commandsOf(program), words));
    });
};

/** Returns the visible commands of a program, with their flags. */
function commandsOf(program: Command): readonly CompletedCommand[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((command) => ({
      name: command.name(),
      description: command.description(),
      takes: command.registeredArguments.map((argument) => argument.name()),
      commands: command.commands.map((one) => one.name()),
      flags: command.options.map(flagOf),
    }));
}

function flagOf({
  long,
  description,
  argChoices,
  required,
  optional,
}: Option): CompletedCommand['flags'][number] {
  return {
    name: long ?? '',
    description,
    takesValue: required || optional,
    choices: argChoices ?? [],
  };
}
