import { Option } from 'commander';
import type { MigrateCommandOptions } from '../../actions/store/migrate.ts';
import type { AddCommand } from '../../grammar/add-command.ts';
import { withConfig } from '../../grammar/option-groups.ts';

/** Adds `adjutant migrate`. */
export const addMigrateCommand: AddCommand = (program, { host, onExitCode }) => {
  withConfig(
    program
      .command('migrate')
      .description('bring the tables of the app’s store up to date, before processes use them'),
  )
    .option('--partition [number]', 'split the events over so many tables of PostgreSQL (16)')
    .option('--json', 'print a line of JSON about what was done')
    // Refused with the reason.
    .addOption(new Option('--server <url>').hideHelp())
    .action(async (options: MigrateCommandOptions) => {
      const { migrateStore } = await import('../../actions/store/migrate.ts');
      onExitCode(await migrateStore(host, options));
    });
};
