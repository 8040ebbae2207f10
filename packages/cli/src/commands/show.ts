import { defined } from 'adjutant/text';
import { Option } from 'commander';
import type { ShowOptions } from '../actions/show.ts';
import type { AddCommand } from '../grammar/add-command.ts';
import { ledgerCommand, withServer } from '../grammar/option-groups.ts';
import {
  instant,
  nameList,
  notEmpty,
  positiveInteger,
  wholeNumber,
} from '../grammar/option-values.ts';
import { namedBy, type SessionFlag, withSessionArgument } from '../grammar/session-argument.ts';

/** Adds `adjutant show`. */
export const addShowCommand: AddCommand = (program, { host, interruption, onExitCode }) => {
  const show = withSessionArgument(
    withServer(ledgerCommand(program, 'show', 'show what was done in a session')),
  );
  for (const option of filterOptions()) show.addOption(option);
  show
    .option('--transcript', 'as a conversation (default)')
    .addOption(
      new Option(
        '--events',
        'as the events of the ledger, shortened to a line each; whole with --json',
      ).conflicts(othersThan('events')),
    )
    .addOption(
      new Option('--tree', 'as a tree of invocations, with times and cost').conflicts(
        othersThan('tree'),
      ),
    )
    .addOption(
      new Option('--mermaid', 'the same as a Mermaid flowchart').conflicts([
        ...othersThan('mermaid'),
        'json',
      ]),
    )
    .addOption(
      new Option('--decisions', 'what was decided, in a line each').conflicts(
        othersThan('decisions'),
      ),
    )
    .addOption(
      new Option('--failures', 'what failed and what was escalated, in a line each').conflicts(
        othersThan('failures'),
      ),
    )
    .addOption(
      new Option('--plan', 'plans: their subtasks and revisions').conflicts(othersThan('plan')),
    )
    .addOption(
      new Option('--prompt <number>', 'the exact prompt of this model call, from 1, as JSON')
        .argParser(positiveInteger)
        .conflicts(othersThan('prompt')),
    )
    .option('--at <seq>', 'only the events up to this one', wholeNumber)
    .addOption(
      new Option(
        '--follow',
        'as events, and those that come, until the open run has ended; exit code as that run',
      ).conflicts([...othersThan('events'), 'at']),
    )
    .option('--json', 'print each item, whole, as a line of JSON')
    .action(
      async (named: string | undefined, { session, ...options }: ShowOptions & SessionFlag) => {
        const id = namedBy(named, defined({ session }));
        const { showSession } = await import('../actions/show.ts');
        onExitCode(await showSession({ host, interruption }, id, options));
      },
    );
};

const showViews: readonly string[] = [
  'transcript',
  'events',
  'tree',
  'mermaid',
  'decisions',
  'failures',
  'plan',
  'prompt',
];

/** Options of `show` that cannot be combined with this one. */
function othersThan(view: string): string[] {
  return showViews.filter((other) => other !== view);
}

/** Options that choose events. Each shows events, and no other view. */
function filterOptions(): readonly Option[] {
  const filter = (flags: string, description: string): Option =>
    new Option(flags, `only events ${description}`)
      .implies({ events: true })
      .conflicts([...othersThan('events'), 'follow']);
  return [
    filter('--type <types>', 'of these types, with commas between them').argParser(nameList),
    filter('--agent <name>', 'of this agent').argParser(notEmpty),
    filter('--from <instant>', 'of then or later').argParser(instant),
    filter('--to <instant>', 'before then').argParser(instant),
    filter('--text <text>', 'whose JSON text has this in it').argParser(notEmpty),
  ];
}
