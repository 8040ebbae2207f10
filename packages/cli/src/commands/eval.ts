import { InvalidArgumentError, Option } from 'commander';
import type { EvalCommandOptions } from '../actions/eval.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { gatheredTexts, notEmpty, positiveInteger } from '../grammar/option-values.ts';

/** Adds `adjutant eval`, which measures agents. */
export const addEvalCommand: AddCommand = (program, { host, interruption, onExitCode }) => {
  program
    .command('eval')
    .description('run an eval: the cases of a dataset, with variants of an agent, scored')
    .argument(
      '<file>',
      'a module whose default export is an eval (defineEval), or a dataset in JSON or YAML',
      notEmpty,
    )
    .option(
      '--config <file>',
      'what a dataset is run on (default: adjutant.config.ts or .js in the present folder)',
      notEmpty,
    )
    .option('--variant <name>', 'only this variant; may be given again', gatheredTexts)
    .option('--case <id>', 'only this case; may be given again', gatheredTexts)
    .option('--tag <tag>', 'only cases with this tag; may be given again', gatheredTexts)
    .option(
      '--trials <number>',
      'how often each case is run (default: as the eval says, else once)',
      positiveInteger,
    )
    .option(
      '--concurrency <number>',
      'trials at the same time (default: as the eval says, else 4)',
      positiveInteger,
    )
    .option(
      '--threshold <share>',
      'the least pass rate of every variant, from 0 to 1 (default: as the eval says, else 1)',
      share,
    )
    .option(
      '--store <file>',
      'SQLite file with the runs of the eval, and the store that a module which asks for ' +
        'one is given',
      notEmpty,
    )
    .option('--run <id>', 'name of this run; a run of this name goes on where it stopped', runName)
    .addOption(
      new Option('--continue', 'go on with the last run that has not finished').conflicts('run'),
    )
    .option('--html <file>', 'also write the report as a page of its own', notEmpty)
    .option(
      '--reports <folder>',
      'where the report is kept for `adjutant serve` (default: .adjutant/evals beside ' +
        'adjutant.config.ts, else in the data folder)',
      notEmpty,
    )
    .option('--no-reports', 'keep no report')
    .option('--quiet', 'no progress, and only the verdict at the end')
    .option('--json', 'print what happens as lines of JSON, the report last')
    .action(async (file: string, options: EvalCommandOptions) => {
      const { runEval } = await import('../actions/eval.ts');
      onExitCode(await runEval({ host, interruption }, file, options));
    });
};

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('It must be a number from 0 to 1.');
  return value;
}

function runName(text: string): string {
  if (!/^[\w.-]{1,100}$/.test(text))
    throw new InvalidArgumentError(
      'It has 1 to 100 letters, digits, dots, dashes and underscores.',
    );
  return text;
}
