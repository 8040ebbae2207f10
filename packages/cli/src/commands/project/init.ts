import type { AddCommand } from '../../grammar/add-command.ts';
import { notEmpty } from '../../grammar/option-values.ts';
import type { InitOptions } from '../../init/init.ts';

/** Adds `adjutant init`. */
export const addInitCommand: AddCommand = (program, { host, interruption, onExitCode }) => {
  program
    .command('init')
    .description('make a project: config, agent, tool, test and eval, installed and proved')
    .argument('[folder]', 'folder of the project (default: the present one)', notEmpty)
    .option('--template <name>', 'assistant, coder, researcher or team', notEmpty)
    .option('--model <name>', 'model of its agents, such as openai:gpt-5-mini', notEmpty)
    .option('--store <name>', 'where its sessions are kept: sqlite, postgres or memory', notEmpty)
    .option('-y, --yes', 'take the first of what there is to choose from')
    .option('--no-install', 'only write the files')
    .option(
      '--packages <folder>',
      "folder with Adjutant's packages as npm run build packs them (default: the registry of npm)",
      notEmpty,
    )
    .action(async (folder: string | undefined, options: InitOptions) => {
      const { initProject } = await import('../../init/init.ts');
      onExitCode(await initProject({ host, interruption, options }, folder));
    });
};
