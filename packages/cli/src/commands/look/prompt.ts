import { Option } from 'commander';
import type { PromptCommandOptions } from '../../actions/look/prompt.ts';
import type { AddCommand } from '../../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../../grammar/option-groups.ts';
import { positiveInteger, sessionId } from '../../grammar/option-values.ts';

/** Adds `adjutant prompt`. */
export const addPromptCommand: AddCommand = (program, { host, onExitCode }) => {
  withServer(ledgerCommand(program, 'prompt', 'show the exact prompt of a model call, as JSON'))
    .argument('<number>', 'number of the model call, from 1', positiveInteger)
    .argument('[session]', 'id of the session (default: the newest)', sessionId)
    .addOption(new Option('--diff', 'only what changed since the call of the agent before'))
    .addOption(
      new Option('--sections', 'its sections, with their tokens and what changed').conflicts(
        'diff',
      ),
    )
    .option('--json', 'print a line of JSON')
    .action(async (number: number, session: string | undefined, options: PromptCommandOptions) => {
      const { showPrompt } = await import('../../actions/look/prompt.ts');
      onExitCode(await showPrompt(host, number, session, options));
    });
};
