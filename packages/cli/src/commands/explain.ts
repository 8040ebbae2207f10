import { Option } from 'commander';
import type { ExplainCommandOptions } from '../actions/explain.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../grammar/option-groups.ts';
import { notEmpty, wholeNumber } from '../grammar/option-values.ts';
import { namedBy, type SessionFlag, withSessionArgument } from '../grammar/session-argument.ts';

/** Adds `adjutant explain`. */
export const addExplainCommand: AddCommand = (program, { host, onExitCode }) => {
  const description = 'tell what was decided in a session, why, and what else was considered';
  withSessionArgument(withServer(ledgerCommand(program, 'explain', description)))
    .option('--at <seq>', 'only the events up to this one', wholeNumber)
    .addOption(
      new Option('--for <reader>', 'explain one run to a reader').choices([
        'user',
        'developer',
        'auditor',
      ]),
    )
    .addOption(
      new Option('--graph', 'draw what led to what in one run, as a Mermaid flowchart').conflicts(
        'for',
      ),
    )
    .option('--run <id>', 'the run of --for and --graph (default: the last one)', notEmpty)
    .option('--json', 'print each decision as a line of JSON')
    .action(async (named: string | undefined, options: ExplainCommandOptions & SessionFlag) => {
      const { explainSession } = await import('../actions/explain.ts');
      onExitCode(await explainSession(host, namedBy(named, options), options));
    });
};
