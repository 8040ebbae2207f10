import type { ExportCommandOptions } from '../actions/export.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../grammar/option-groups.ts';
import { gatheredTexts, notEmpty, sessionId } from '../grammar/option-values.ts';

/** Adds `adjutant export`. */
export const addExportCommand: AddCommand = (program, { host, onExitCode }) => {
  const description =
    'write the ledger of a session to a file, without secrets, to be kept and replayed';
  withServer(ledgerCommand(program, 'export', description))
    .argument('<session>', 'id of the session', sessionId)
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
    .action(async (session: string, options: ExportCommandOptions) => {
      const { exportSession } = await import('../actions/export.ts');
      onExitCode(await exportSession(host, session, options));
    });
};
