import type { ArchiveCommandOptions } from '../../actions/store/archive.ts';
import type { AddCommand } from '../../grammar/add-command.ts';
import { ledgerCommand } from '../../grammar/option-groups.ts';
import { notEmpty } from '../../grammar/option-values.ts';

/** Adds `adjutant archive`. */
export const addArchiveCommand: AddCommand = (program, { host, onExitCode }) => {
  ledgerCommand(program, 'archive', 'move a session out of the store into a file')
    .argument('<session>', 'id of the session, whose last run has ended')
    .requiredOption('-o, --output <file>', 'file to write, which must not exist', notEmpty)
    .option('--json', 'print a line of JSON about what was done')
    .action(async (session: string, options: ArchiveCommandOptions & { output: string }) => {
      const { archive } = await import('../../actions/store/archive.ts');
      onExitCode(await archive(host, { session, file: options.output }, options));
    });
};

/** Adds `adjutant restore`. */
export const addRestoreCommand: AddCommand = (program, { host, onExitCode }) => {
  ledgerCommand(program, 'restore', 'bring an archived session back into the store')
    .argument('<file>', 'file that adjutant archive has written', notEmpty)
    .option('--json', 'print a line of JSON about what was done')
    .action(async (file: string, options: ArchiveCommandOptions) => {
      const { restore } = await import('../../actions/store/archive.ts');
      onExitCode(await restore(host, file, options));
    });
};
