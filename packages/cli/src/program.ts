import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from './failure.ts';
import type { Host } from './host.ts';
import type { Interruption } from './interruption.ts';

interface AgentFlags {
  readonly model?: string;
  readonly session?: string;
  readonly store?: string;
  readonly app?: string;
  readonly root?: string;
  readonly json?: boolean;
}

const commandNames: readonly string[] = ['run', 'chat', 'sessions', 'show', 'resume', 'help'];
const longestSessionId = 200;
const appDescription = 'the app whose sessions they are, as in runtime({ app }) (default: adjutant)';

/**
 * The arguments with the command that they leave out: a goal alone is run, and nothing at all is a chat or a tour.
 * A goal can be told from a mistyped command by anything but small letters in its first word.
 */
export function withCommand(args: readonly string[], host: Pick<Host, 'stdin' | 'stdout'>): string[] {
  const [first] = args;
  if (first === undefined) return [host.stdin.isTTY && host.stdout.isTTY ? 'chat' : 'tour'];
  if (/^[a-z][a-z-]*$/.test(first) || ['--help', '-h', '--version', '-V'].includes(first)) return [...args];
  return ['run', ...args];
}

/** The command line's grammar. Commands are loaded when they are called, so that help and mistakes are answered at once. */
export function buildProgram(host: Host, interruption: Interruption, onExitCode: (code: number) => void): Command {
  const program = new Command('adjutant')
    .description('Runs agents whose every act is an entry in a ledger.')
    .usage('[command] [options] | "goal" [options]')
    .version(packageVersion(), '-V, --version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => host.stdout.write(text), writeErr: () => undefined })
    .showSuggestionAfterError();
  addRunCommands(program, host, interruption, onExitCode);
  addLedgerCommands(program, host, onExitCode);
  program.command('tour', { hidden: true }).action(async () => onExitCode((await import('./commands/tour.ts')).showTour(host)));
  return program;
}

function addRunCommands(program: Command, host: Host, interruption: Interruption, onExitCode: (code: number) => void): void {
  agentCommand(program, 'run [goal...]', 'run the agent on a goal (the command may be left out: adjutant "goal")')
    .option('--session <id>', 'go on in this session, or begin it under this name', sessionId)
    .option('--json', 'print every event as a line of JSON, then the result')
    .action(async (words: string[], { session, ...options }: AgentFlags) => {
      const { runGoal } = await import('./commands/run.ts');
      refuseMisplacedCommand(words);
      onExitCode(await runGoal({ host, interruption, options }, words.join(' '), session));
    });
  agentCommand(program, 'chat', 'talk to the agent, line by line; /exit or Ctrl-D ends')
    .option('--session <id>', 'go on in this session, or begin it under this name', sessionId)
    .action(async ({ session, ...options }: AgentFlags) => {
      const { chat } = await import('./commands/chat.ts');
      onExitCode(await chat({ host, interruption, options }, session));
    });
  agentCommand(program, 'resume', 'continue a run that was stopped or killed')
    .argument('<session>', 'id of the session', sessionId)
    .option('--json', 'print every event as a line of JSON, then the result')
    .action(async (session: string, options: AgentFlags) => {
      const { resumeSession } = await import('./commands/resume.ts');
      onExitCode(await resumeSession({ host, interruption, options }, session));
    });
}

function agentCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--model <name>', 'model, such as openai:gpt-5-mini, ollama:qwen3 or rehearsal (default: ADJUTANT_MODEL, else by the keys that are set)')
    .option('--store <file>', 'SQLite file with the ledgers (default: in your data folder, or in ADJUTANT_HOME)', notEmpty)
    .option('--app <name>', appDescription, appName)
    .option('--root <folder>', 'folder that the file tools can see (default: the present one)', notEmpty);
}

function addLedgerCommands(program: Command, host: Host, onExitCode: (code: number) => void): void {
  ledgerCommand(program, 'sessions', 'list the sessions, newest first')
    .option('--limit <number>', 'how many at most', positiveInteger, 50)
    .option('--json', 'print each session as a line of JSON')
    .action(async (options: { store?: string; app?: string; json?: boolean; limit: number }) => {
      const { listSessions } = await import('./commands/sessions.ts');
      onExitCode(await listSessions(host, options));
    });
  ledgerCommand(program, 'show', 'show what was done in a session')
    .argument('[session]', 'id of the session (default: the newest)', sessionId)
    .option('--transcript', 'as a conversation (default)')
    .addOption(
      new Option('--events', 'as the events of the ledger, shortened to a line each; whole with --json').conflicts(['transcript', 'tree', 'prompt']),
    )
    .addOption(new Option('--tree', 'as a tree of invocations').conflicts(['transcript', 'events', 'prompt']))
    .addOption(
      new Option('--prompt <number>', 'the exact prompt of this model call, from 1, as JSON')
        .argParser(positiveInteger)
        .conflicts(['transcript', 'events', 'tree']),
    )
    .option('--at <seq>', 'only the events up to this one', wholeNumber)
    .option('--json', 'print each item, whole, as a line of JSON')
    .action(async (session: string | undefined, options: { store?: string; app?: string; json?: boolean }) => {
      const { showSession } = await import('./commands/show.ts');
      onExitCode(await showSession(host, session, options));
    });
}

function ledgerCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--store <file>', 'SQLite file with the ledgers (default: in your data folder, or in ADJUTANT_HOME)', notEmpty)
    .option('--app <name>', appDescription, appName);
}

/** `adjutant --store x.db sessions` would otherwise be a goal of one word. */
function refuseMisplacedCommand(words: readonly string[]): void {
  const [first = ''] = words;
  if (words.length > 1 || !commandNames.includes(first)) return;
  throw new UsageError({ reason: `"${first}" is a command: write it first, before its options. As a goal it needs more words.` });
}

function sessionId(text: string): string {
  if (text.trim() === '' || text.length > longestSessionId || /\p{Cc}/u.test(text)) {
    throw new InvalidArgumentError(`A session id has 1 to ${longestSessionId} characters, none of them a control character.`);
  }
  return text;
}

function appName(text: string): string {
  if (text.trim() === '' || /\p{Cc}/u.test(text)) throw new InvalidArgumentError('The name of an app is not empty and has no control characters.');
  return text;
}

function notEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function positiveInteger(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError('It must be 1 or more.');
  return number;
}

function packageVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
