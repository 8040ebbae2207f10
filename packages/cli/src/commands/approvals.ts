import type { ApprovalsOptions } from '../actions/approvals.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../grammar/option-groups.ts';
import { notEmpty } from '../grammar/option-values.ts';

/** Adds `adjutant approvals`. */
export const addApprovalsCommand: AddCommand = (program, { host, onExitCode }) => {
  withServer(
    ledgerCommand(
      program,
      'approvals',
      'list what runs wait for: approvals, and whatever else somebody must answer',
    ),
  )
    .option('--user <id>', 'only those of sessions of this user', notEmpty)
    .option('--json', 'print each request as a line of JSON')
    .action(async (options: ApprovalsOptions) => {
      const { listApprovals } = await import('../actions/approvals.ts');
      onExitCode(await listApprovals(host, options));
    });
};
