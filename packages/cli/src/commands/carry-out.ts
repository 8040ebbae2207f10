import { isAdjutantError, type Run, type RunOptions, type RunResult, type Session } from 'adjutant';
import type { AgentOptions } from '../app.ts';
import { exitCodes } from '../failure.ts';
import type { Host } from '../host.ts';
import type { Interruption } from '../interruption.ts';
import { JsonOutput } from '../output/json-output.ts';
import { plainLine } from '../output/plain-text.ts';
import type { RunOutput } from '../output/run-output.ts';
import { styleFor } from '../output/style.ts';
import { TextOutput } from '../output/text-output.ts';

export interface RunContext {
  readonly host: Host;
  readonly interruption: Interruption;
  readonly options: AgentOptions & { readonly json?: boolean };
}

/** Starts a run of a session, shows it, and gives the exit code. A signal gives the run back and says how to continue it. */
export async function carryOut(context: RunContext, session: Session, start: (options: RunOptions) => Run): Promise<number> {
  const { host, interruption, options } = context;
  const output = outputFor(host, options.json === true, session);
  const forget = session.ledger.onDraft((event) => output.drafted(event));
  try {
    const run = start({ onStream: (event) => output.streamed(event) });
    const result = await interruption.during(
      () => run.stop(),
      () => run,
    );
    output.ended(result);
    return reportEnd(host, result);
  } catch (error) {
    if (!isAdjutantError(error, 'run_stopped')) throw error;
    output.stopped(session.id, commandLine(['resume', session.id], options));
    return interruption.exitCode ?? exitCodes.failed;
  } finally {
    forget();
    output.close();
  }
}

function outputFor(host: Host, isJson: boolean, session: Session): RunOutput {
  const { stdout: stream, stderr: notices, clock, env } = host;
  if (isJson) return new JsonOutput(stream);
  return new TextOutput({ stream, notices, clock, isLive: stream.isTTY === true && env['TERM'] !== 'dumb', resolve: session.ledger.resolve });
}

function reportEnd(host: Host, { status, error }: RunResult): number {
  if (status === 'completed') return exitCodes.ok;
  const reason = status === 'cancelled' ? 'The run was cancelled.' : `The run failed: ${error?.message ?? 'no reason was recorded.'}`;
  host.stderr.write(`${styleFor(host.stderr).red(`adjutant: ${plainLine(reason)}`)}\n`);
  return exitCodes.failed;
}

/** A command to be typed next, with the options that this one was started with. */
export function commandLine(words: readonly string[], { model, store, app, root }: AgentOptions): string {
  const given = Object.entries({ model, store, app, root }).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  return ['adjutant', ...words, ...given].map(shellWord).join(' ');
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
