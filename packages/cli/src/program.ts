import { Command, Option } from 'commander';
import { addAnswerCommand } from './commands/answer.ts';
import { addApprovalsCommand } from './commands/approvals.ts';
import { addApproveCommand } from './commands/approve.ts';
import { addCancelCommand } from './commands/cancel.ts';
import { addChatCommand } from './commands/chat.ts';
import { addCheckCommand } from './commands/check.ts';
import { addDeleteCommand } from './commands/delete.ts';
import { addDiffCommand } from './commands/diff.ts';
import { addEditCommand } from './commands/edit.ts';
import { addEncryptCommand } from './commands/encrypt.ts';
import { addEvalCommand } from './commands/eval.ts';
import { addExplainCommand } from './commands/explain.ts';
import { addExportCommand } from './commands/export.ts';
import { addForkCommand } from './commands/fork.ts';
import { addKeysCommand } from './commands/keys.ts';
import { addPromptCommand } from './commands/look/prompt.ts';
import { addStateCommand } from './commands/look/state.ts';
import { addNoticesCommand } from './commands/notices/notices.ts';
import { addCompletionCommand } from './commands/project/completion.ts';
import { addDevCommand } from './commands/project/dev.ts';
import { addDoctorCommand } from './commands/project/doctor.ts';
import { addInitCommand } from './commands/project/init.ts';
import { addRejectCommand } from './commands/reject.ts';
import { addReopenCommand } from './commands/reopen.ts';
import { addReplayCommand } from './commands/replay.ts';
import { addResolveCommand } from './commands/resolve.ts';
import { addResumeCommand } from './commands/resume.ts';
import { addRunCommand } from './commands/run.ts';
import { addServeCommand } from './commands/serve.ts';
import { addSessionsCommand } from './commands/sessions.ts';
import { addShowCommand } from './commands/show.ts';
import { addArchiveCommand, addRestoreCommand } from './commands/store/archive.ts';
import { addMigrateCommand } from './commands/store/migrate.ts';
import { addRebuildCommand } from './commands/store/rebuild.ts';
import { addTasksCommand } from './commands/tasks/tasks.ts';
import { addWorkerCommand } from './commands/tasks/worker.ts';
import { addTourCommand } from './commands/tour.ts';
import { addPublishCommand } from './commands/triggers/publish.ts';
import { addTriggersCommand } from './commands/triggers/triggers.ts';
import type { AddCommand, CommandParts } from './grammar/add-command.ts';
import { readEnvFile } from './host/env-file.ts';
import type { Host } from './host/host.ts';
import type { ConfigOptions } from './modules/find-config.ts';
import { ownManifest } from './own-package.ts';

/** The commands in the order of the help. */
const commands: readonly AddCommand[] = [
  addRunCommand,
  addChatCommand,
  addResumeCommand,
  addSessionsCommand,
  addShowCommand,
  addExplainCommand,
  addPromptCommand,
  addStateCommand,
  addForkCommand,
  addCancelCommand,
  addResolveCommand,
  addReopenCommand,
  addDeleteCommand,
  addExportCommand,
  addReplayCommand,
  addCheckCommand,
  addDiffCommand,
  addApprovalsCommand,
  addApproveCommand,
  addRejectCommand,
  addEditCommand,
  addAnswerCommand,
  addEvalCommand,
  addInitCommand,
  addDevCommand,
  addDoctorCommand,
  addServeCommand,
  addTasksCommand,
  addTriggersCommand,
  addPublishCommand,
  addNoticesCommand,
  addWorkerCommand,
  addKeysCommand,
  addEncryptCommand,
  addRebuildCommand,
  addMigrateCommand,
  addArchiveCommand,
  addRestoreCommand,
  addCompletionCommand,
  addTourCommand,
];

/**
 * Adds the command that the arguments leave out. A goal alone is run, and no arguments start a chat
 * or a tour; in a terminal, options of a chat alone start one as well. The first word of a goal
 * must have another character than small letters and hyphens. Otherwise it counts as a mistyped
 * command.
 */
export function withCommand(
  args: readonly string[],
  host: Pick<Host, 'stdin' | 'stdout'>,
  program: Command,
): string[] {
  const [first] = args;
  const isTerminal = host.stdin.isTTY === true && host.stdout.isTTY === true;
  if (first === undefined) return [isTerminal ? 'chat' : 'tour'];
  if (isTerminal && areOptionsOf('chat', args, program)) return ['chat', ...args];
  if (/^[a-z][a-z-]*$/.test(first) || ['--help', '-h', '--version', '-V'].includes(first))
    return [...args];
  return ['run', ...args];
}

/** True when the arguments are options of a command and their values, and nothing else. */
function areOptionsOf(name: string, args: readonly string[], program: Command): boolean {
  const command = program.commands.find((one) => one.name() === name);
  let rest = args;
  while (rest.length > 0) {
    const [flag = '', value] = (rest[0] ?? '').split(/=(.*)/s, 2);
    const option = command?.options.find(({ long }) => long === flag);
    if (option === undefined) return false;
    rest = rest.slice(option.required && value === undefined ? 2 : 1);
  }
  return true;
}

/**
 * Builds the grammar of the command line. Actions are loaded when they are called, so that help and
 * mistakes are answered at once.
 */
export function buildProgram(parts: CommandParts): Command {
  const { host } = parts;
  const program = new Command('adjutant')
    .description('Runs agents whose every act is an entry in a ledger.')
    .usage('[command] [options] | "goal" [options]')
    .version(ownManifest().version, '-V, --version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => host.stdout.write(text), writeErr: () => undefined })
    .showSuggestionAfterError();
  for (const add of commands) add(program, parts);
  addColour(program);
  program.hook('preAction', (_program, command) => {
    setColour(host, command.opts<ColourOption>());
    const isOfProject = command.options.some(({ long }) => long === '--config');
    readEnvFile(host, isOfProject ? command.opts<ConfigOptions>() : { config: false });
  });
  return program;
}

interface ColourOption {
  readonly color?: 'auto' | 'always' | 'never';
}

/** Adds the option of colours to a command, and to those that it contains. */
function addColour(command: Command): void {
  for (const one of command.commands) addColour(one);
  if (command.commands.length > 0) return;
  const option = new Option('--color <when>', 'colours: auto, always or never (NO_COLOR: never)');
  command.addOption(option.choices(['auto', 'always', 'never']));
}

/** Sets the variables from which all that writes learns of colours; Node reads them as well. */
function setColour(host: Host, { color = 'auto' }: ColourOption): void {
  if (color === 'auto') return;
  // Node warns where both of them say something.
  host.setVariable('NO_COLOR', color === 'never' ? '1' : '');
  if (color === 'always' || host.env['FORCE_COLOR'] !== undefined)
    host.setVariable('FORCE_COLOR', color === 'always' ? '1' : '0');
}
