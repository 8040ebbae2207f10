import { Option } from 'commander';
import type { RebuildCommandOptions } from '../../actions/store/rebuild.ts';
import type { AddCommand } from '../../grammar/add-command.ts';
import { ledgerCommand } from '../../grammar/option-groups.ts';
import { notEmpty, sessionId } from '../../grammar/option-values.ts';

/** Adds `adjutant rebuild`. */
export const addRebuildCommand: AddCommand = (program, { host, onExitCode }) => {
  ledgerCommand(program, 'rebuild', 'make turns and lists anew from the ledgers of a store')
    .option('--session <id>', 'only this session (default: all)', sessionId)
    .option('--tenant <name>', 'the sessions of this tenant (default: that of the app)', notEmpty)
    .option('--dry-run', 'print what differs, and change nothing: exit code 1 if anything does')
    .option('--json', 'print each session as a line of JSON, then a line with the numbers')
    // Refused with the reason.
    .addOption(new Option('--server <url>').hideHelp())
    .action(async (options: RebuildCommandOptions) => {
      const { rebuildStore } = await import('../../actions/store/rebuild.ts');
      onExitCode(await rebuildStore(host, options));
    });
};
