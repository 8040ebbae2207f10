import type { EncryptCommandOptions } from '../actions/encrypt.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { withConfig } from '../grammar/option-groups.ts';
import { appName } from '../grammar/option-values.ts';

/** Adds `adjutant encrypt`. */
export const addEncryptCommand: AddCommand = (program, { host, onExitCode }) => {
  withConfig(
    program
      .command('encrypt')
      .description('encrypt what the store of the app has from a time without encryption'),
  )
    .option('--only <app>', 'only the sessions of this app (default: all of the store)', appName)
    .option('--json', 'print a line of JSON about what was encrypted')
    .action(async (options: EncryptCommandOptions) => {
      const { encryptStore } = await import('../actions/encrypt.ts');
      onExitCode(await encryptStore(host, options));
    });
};
