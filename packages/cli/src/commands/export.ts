import type { ExportCommandOptions } from '../actions/export.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../grammar/option-groups.ts';
import { gatheredTexts, notEmpty } from '../grammar/option-values.ts';
import {
  givenSession,
  type SessionFlag,
  withSessionArgument,
} from '../grammar/session-argument.ts';

/** Adds `adjutant export`. */
export const addExportCommand: AddCommand = (program, { host, onExitCode }) => {
  const description =
    'write the ledger of a session to a file, without secrets, to be kept and replayed';
  withSessionArgument(withServer(ledgerCommand(program, 'export', description)))
    .option('-o, --output <file>', 'file to write (default: standard output)', notEmpty)
    .option(
      '--redact <field>',
      'also take out what stands under this key, such as email or customer.email; may be ' +
        'given again',
      gatheredTexts,
    )
    .option(
      '--redact-pattern <regex>',
      'also take out what this regular expression finds in texts; may be given again',
      gatheredTexts,
    )
    .option('--json', 'print a line of JSON about what was written')
    .action(async (named: string | undefined, options: ExportCommandOptions & SessionFlag) => {
      const { exportSession } = await import('../actions/export.ts');
      onExitCode(await exportSession(host, givenSession(named, options), options));
    });
};
