import type { Command } from 'commander';
import type { DiffCommandOptions } from './commands/diff.ts';
import type { ExportCommandOptions } from './commands/export.ts';
import type { ReplayCommandOptions } from './commands/replay.ts';
import type { Host } from './host.ts';
import { configuredCommand } from './program-commands.ts';
import { notEmpty, positiveInteger, sessionId } from './program-values.ts';

interface Parts {
  readonly host: Host;
  readonly onExitCode: (code: number) => void;
}

/** Adds the commands that export ledgers, and that replay them with the present code. */
export function addReplayCommands(program: Command, { host, onExitCode }: Parts): void {
  configuredCommand(
    program,
    'export',
    'write the ledger of a session to a file, without secrets, to be kept and replayed',
  )
    .argument('<session>', 'id of the session', sessionId)
    .option('-o, --output <file>', 'file to write (default: standard output)', notEmpty)
    .option(
      '--redact <field>',
      'also take out what stands under this key, such as email or customer.email; may be ' +
        'given again',
      gathered,
    )
    .option(
      '--redact-pattern <regex>',
      'also take out what this regular expression finds in texts; may be given again',
      gathered,
    )
    .option('--json', 'print a line of JSON about what was written')
    .action(async (session: string, options: ExportCommandOptions) => {
      const { exportSession } = await import('./commands/export.ts');
      onExitCode(await exportSession(host, session, options));
    });
  configuredCommand(
    program,
    'replay',
    'hold the present code against a recorded session: exit code 1 where it does something else',
  )
    .argument('<session>', 'id of the session, or a file that export has written', sessionId)
    .option('--until <seq>', 'only the events up to this one', positiveInteger)
    .option('--live-model', 'ask the models again, in the place of their recorded answers')
    .option(
      '--live-tools',
      'run the tools again, with their effects, in the place of their recorded results; ' +
        'all divergences are shown',
    )
    .option(
      '--model <name>',
      'another model for the agent of the command line (default: that of the record)',
      notEmpty,
    )
    .option(
      '--root <folder>',
      'folder that the file tools can see (default: the present one)',
      notEmpty,
    )
    .option('--json', 'print a line of JSON')
    .action(async (name: string, options: ReplayCommandOptions) => {
      const { replayRecord } = await import('./commands/replay.ts');
      onExitCode(await replayRecord(host, name, options));
    });
  configuredCommand(program, 'diff', 'show where two sessions part: exit code 1 where they do')
    .argument('<a>', 'id of a session, or a file that export has written', sessionId)
    .argument('<b>', 'another one', sessionId)
    .option('--json', 'print a line of JSON')
    .action(async (a: string, b: string, options: DiffCommandOptions) => {
      const { diffSessions } = await import('./commands/diff.ts');
      onExitCode(await diffSessions(host, a, b, options));
    });
}

function gathered(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, notEmpty(value)];
}
