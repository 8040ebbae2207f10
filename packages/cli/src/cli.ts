import { CommanderError } from 'commander';
import { describeFailure, exitCodeOf, exitCodes } from './failure.ts';
import type { EarlyTerminal } from './host/first-words.ts';
import type { Host } from './host/host.ts';
import { Interruption } from './host/interruption.ts';
import { ownCommand } from './host/own-name.ts';
import { failureRecord, jsonLine } from './output/json-output.ts';
import { plainLine } from './output/plain-text.ts';
import { styleFor } from './output/style.ts';
import { buildProgram, withCommand } from './program.ts';

/**
 * Carries out a command line and returns the exit code. Failures are reported on the streams of the
 * host.
 */
export async function runCli(
  args: readonly string[],
  given: Host,
  early?: EarlyTerminal,
): Promise<number> {
  const [end = args.length] = [args.indexOf('--')].filter((at) => at >= 0);
  const host = { ...given, isQuiet: args.slice(0, end).includes('--quiet') };
  let exitCode: number = exitCodes.ok;
  const interruption = new Interruption(host.signals);
  interruption.listen();
  try {
    const onExitCode = (code: number): void => {
      exitCode = code;
    };
    const program = buildProgram({ host, interruption, early, onExitCode });
    await program.parseAsync(withCommand(args, host, program), { from: 'user' });
    return exitCode;
  } catch (error) {
    early?.drop();
    if (error instanceof CommanderError) return reportUsage(host, args, error);
    report(host, args, describeFailure(error), failureRecord(error));
    return exitCodeOf(error);
  }
}

/** Reports a usage error. Help and version also end the parsing, with nothing to report. */
function reportUsage(host: Host, args: readonly string[], error: CommanderError): number {
  if (error.exitCode === 0) return exitCodes.ok;
  const message = error.message.replace(/^error: /, '');
  const advice =
    error.code === 'commander.unknownCommand'
      ? ` A goal goes in quotes after "run": ${ownCommand('run "…"')}.`
      : '';
  report(host, args, `${message}${advice} (${ownCommand('--help')} lists commands and options.)`, {
    type: 'error',
    error: { name: 'UsageError', code: 'usage', message },
  });
  return exitCodes.usage;
}

function report(host: Host, args: readonly string[], message: string, record: object): void {
  if (args.includes('--json')) host.stdout.write(jsonLine(record));
  host.stderr.write(`${styleFor(host.stderr).red(`adjutant: ${plainLine(message)}`)}\n`);
}
