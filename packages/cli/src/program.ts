import { readFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { CancelOptions } from './commands/cancel.ts';
import type { DeleteCommandOptions } from './commands/delete.ts';
import type { ExplainCommandOptions } from './commands/explain.ts';
import type { ForkCommandOptions } from './commands/fork.ts';
import type { SessionsOptions } from './commands/sessions.ts';
import { UsageError } from './failure.ts';
import type { Host } from './host.ts';
import type { Interruption } from './interruption.ts';
import { addAnswerCommands } from './program-answers.ts';
import { agentCommand, configuredCommand, ledgerCommand, withServer } from './program-commands.ts';
import { addEvalCommand } from './program-eval.ts';
import { addKeyCommands } from './program-keys.ts';
import { addReplayCommands } from './program-replay.ts';
import { addServeCommand } from './program-serve.ts';
import { gathered, notEmpty, positiveInteger, sessionId, wholeNumber } from './program-values.ts';

interface AgentFlags {
  readonly model?: string;
  readonly session?: string;
  readonly store?: string;
  readonly app?: string;
  readonly root?: string;
  readonly askBefore?: readonly string[];
  readonly json?: boolean;
  readonly server?: string;
  readonly key?: string;
  readonly agent?: string;
}

const commandNames: readonly string[] = [
  ...[
    'run',
    'chat',
    'resume',
    'sessions',
    'show',
    'explain',
    'fork',
    'cancel',
    'delete',
    'export',
    'replay',
    'diff',
  ],
  ...['approvals', 'approve', 'reject', 'edit', 'answer', 'eval', 'keys', 'serve', 'help'],
];

/**
 * Adds the command that the arguments leave out. A goal alone is run, and no arguments start a chat
 * or a tour. The first word of such a goal must have another character than small letters and
 * hyphens. Otherwise it counts as a mistyped command.
 */
export function withCommand(
  args: readonly string[],
  host: Pick<Host, 'stdin' | 'stdout'>,
): string[] {
  const [first] = args;
  if (first === undefined) return [host.stdin.isTTY && host.stdout.isTTY ? 'chat' : 'tour'];
  if (/^[a-z][a-z-]*$/.test(first) || ['--help', '-h', '--version', '-V'].includes(first))
    return [...args];
  return ['run', ...args];
}

/**
 * Builds the grammar of the command line. Commands are loaded when they are called, so that help
 * and mistakes are answered at once.
 */
export function buildProgram(
  host: Host,
  interruption: Interruption,
  onExitCode: (code: number) => void,
): Command {
  const program = new Command('adjutant')
    .description('Runs agents whose every act is an entry in a ledger.')
    .usage('[command] [options] | "goal" [options]')
    .version(packageVersion(), '-V, --version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => host.stdout.write(text), writeErr: () => undefined })
    .showSuggestionAfterError();
  addRunCommands(program, host, interruption, onExitCode);
  addLedgerCommands(program, host, onExitCode);
  addSessionCommands(program, host, onExitCode);
  addReplayCommands(program, { host, onExitCode });
  addAnswerCommands(program, { host, interruption, onExitCode });
  addEvalCommand(program, { host, interruption, onExitCode });
  addServeCommand(program, { host, interruption, onExitCode });
  addKeyCommands(program, { host, onExitCode });
  program
    .command('tour', { hidden: true })
    .action(async () => onExitCode((await import('./commands/tour.ts')).showTour(host)));
  return program;
}

function addRunCommands(
  program: Command,
  host: Host,
  interruption: Interruption,
  onExitCode: (code: number) => void,
): void {
  withServer(
    agentCommand(
      program,
      'run [goal...]',
      'run the agent on a goal (the command may be left out: adjutant "goal")',
    ),
  )
    .addOption(
      new Option(
        '--agent <name>',
        'with --server: what is run (default: the only agent that there is)',
      ).argParser(notEmpty),
    )
    .option('--session <id>', 'go on in this session, or begin it under this name', sessionId)
    .option(
      '--ask-before <tool>',
      'wait for approval before this tool; may be given again, "all" means each, "none" no ' +
        'longer any',
      gathered,
    )
    .option('--json', 'print every event as a line of JSON, then the result')
    .action(async (words: string[], { session, ...options }: AgentFlags) => {
      const { runGoal } = await import('./commands/run.ts');
      refuseMisplacedCommand(words);
      if (options.agent !== undefined && options.server === undefined) {
        throw new UsageError({
          reason: '--agent names an agent of a server: say which with --server.',
        });
      }
      onExitCode(await runGoal({ host, interruption, options }, words.join(' '), session));
    });
  agentCommand(program, 'chat', 'talk to the agent, line by line; /exit or Ctrl-D ends')
    .option('--session <id>', 'go on in this session, or begin it under this name', sessionId)
    .option(
      '--ask-before <tool>',
      'wait for approval before this tool; may be given again, "all" means each, "none" no ' +
        'longer any',
      gathered,
    )
    .action(async ({ session, ...options }: AgentFlags) => {
      const { chat } = await import('./commands/chat.ts');
      onExitCode(await chat({ host, interruption, options }, session));
    });
  withServer(agentCommand(program, 'resume', 'continue a run that was stopped or killed'))
    .argument('<session>', 'id of the session', sessionId)
    .option('--json', 'print every event as a line of JSON, then the result')
    .action(async (session: string, options: AgentFlags) => {
      const { resumeSession } = await import('./commands/resume.ts');
      onExitCode(await resumeSession({ host, interruption, options }, session));
    });
}

function addLedgerCommands(program: Command, host: Host, onExitCode: (code: number) => void): void {
  withServer(configuredCommand(program, 'sessions', 'list the sessions, newest first'))
    .option('--limit <number>', 'how many at most', positiveInteger, 50)
    .addOption(
      new Option('--status <status>', 'only those in this state').choices([
        'active',
        'awaiting_input',
        'completed',
        'error',
      ]),
    )
    .option('--runnable <name>', 'only those whose last run was of this runnable', notEmpty)
    .option('--user <id>', 'only those of this user', notEmpty)
    .option('--json', 'print each session as a line of JSON')
    .action(async (options: SessionsOptions) => {
      const { listSessions } = await import('./commands/sessions.ts');
      onExitCode(await listSessions(host, options));
    });
  withServer(configuredCommand(program, 'show', 'show what was done in a session'))
    .argument('[session]', 'id of the session (default: the newest)', sessionId)
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
      new Option('--prompt <number>', 'the exact prompt of this model call, from 1, as JSON')
        .argParser(positiveInteger)
        .conflicts(othersThan('prompt')),
    )
    .option('--at <seq>', 'only the events up to this one', wholeNumber)
    .option('--json', 'print each item, whole, as a line of JSON')
    .action(
      async (
        session: string | undefined,
        options: { store?: string; app?: string; json?: boolean },
      ) => {
        const { showSession } = await import('./commands/show.ts');
        onExitCode(await showSession(host, session, options));
      },
    );
  withServer(
    configuredCommand(
      program,
      'explain',
      'tell what was decided in a session, why, and what else was considered',
    ),
  )
    .argument('[session]', 'id of the session (default: the newest)', sessionId)
    .option('--at <seq>', 'only the events up to this one', wholeNumber)
    .option('--json', 'print each decision as a line of JSON')
    .action(async (session: string | undefined, options: ExplainCommandOptions) => {
      const { explainSession } = await import('./commands/explain.ts');
      onExitCode(await explainSession(host, session, options));
    });
}

const showViews: readonly string[] = [
  'transcript',
  'events',
  'tree',
  'mermaid',
  'decisions',
  'failures',
  'prompt',
];

/** Options of `show` that cannot be combined with this one. */
function othersThan(view: string): string[] {
  return showViews.filter((other) => other !== view);
}

function addSessionCommands(
  program: Command,
  host: Host,
  onExitCode: (code: number) => void,
): void {
  ledgerCommand(program, 'fork', 'make a session that goes its own way from a place in another one')
    .argument('<session>', 'id of the session', sessionId)
    .requiredOption(
      '--at <seq>',
      'the last event that the fork has, as show --events numbers them',
      wholeNumber,
    )
    .option('--id <id>', 'id of the fork (default: a new one)', sessionId)
    .option('--json', 'print a line of JSON')
    .action(async (session: string, options: ForkCommandOptions) => {
      const { forkSession } = await import('./commands/fork.ts');
      onExitCode(await forkSession(host, session, options));
    });
  withServer(
    ledgerCommand(program, 'cancel', 'end the run that a session has open, whoever works on it'),
  )
    .argument('<session>', 'id of the session', sessionId)
    .option('--reason <text>', 'why', notEmpty)
    .option('--json', 'print a line of JSON')
    .action(async (session: string, options: CancelOptions) => {
      const { cancelSession } = await import('./commands/cancel.ts');
      onExitCode(await cancelSession(host, session, options));
    });
  ledgerCommand(program, 'delete', 'remove a session for good')
    .argument('<session>', 'id of the session', sessionId)
    .option('--with-forks', 'its forks, too, and all that they share')
    .action(async (session: string, options: DeleteCommandOptions) => {
      const { deleteSession } = await import('./commands/delete.ts');
      onExitCode(await deleteSession(host, session, options));
    });
}

/**
 * Refuses a command name as the only word of a goal. In `adjutant --store x.db sessions` it follows
 * the options, and would be run as a goal.
 */
function refuseMisplacedCommand(words: readonly string[]): void {
  const [first = ''] = words;
  if (words.length > 1 || !commandNames.includes(first)) return;
  throw new UsageError({
    reason:
      `"${first}" is a command: write it first, before its options. As a goal it needs more ` +
      'words.',
  });
}

function packageVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
