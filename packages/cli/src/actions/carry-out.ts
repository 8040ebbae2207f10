import {
  isAdjutantError,
  isDurable,
  type Run,
  type RunOptions,
  type RunResult,
  type Session,
  type StreamEvent,
} from 'adjutant';
import type { ServerFlags } from '../access/server-flags.ts';
import { holderNow, laneOf } from '../app/open-run.ts';
import type { ProjectFlags } from '../app/project.ts';
import { exitCodes } from '../failure.ts';
import type { EarlyTerminal } from '../host/first-words.ts';
import type { Host } from '../host/host.ts';
import type { Interruption } from '../host/interruption.ts';
import { ownName } from '../host/own-name.ts';
import { JsonOutput } from '../output/json-output.ts';
import { laneWords } from '../output/lane-text.ts';
import { notice } from '../output/notice.ts';
import { plainLine } from '../output/plain-text.ts';
import type { RunOutput } from '../output/run-output.ts';
import { styleFor } from '../output/style.ts';
import { TextOutput, type TextOutputOptions } from '../output/text-output.ts';
import { askedBy, type CommandText, waitingLines } from '../output/waiting.ts';

export interface RunContext {
  readonly host: Host;
  readonly interruption: Interruption;
  /** The terminal, if it was taken for the app before the program was loaded. */
  readonly early?: EarlyTerminal | undefined;
  readonly options: ProjectFlags &
    ServerFlags & {
      readonly json?: boolean;
      /** Lane of the run. @default the default lane */
      readonly lane?: string;
    };
  /**
   * False in a program of the user: there, no command goes on with what was begun.
   * @default true
   */
  readonly hasCommands?: boolean;
  /** Called with the result of each run. */
  readonly onResult?: (result: RunResult) => void;
}

/**
 * Starts a run of a session, shows it, and returns the exit code. A signal releases the run and
 * tells how to continue it.
 */
export async function carryOut(
  context: RunContext,
  session: Session,
  start: (options: RunOptions) => Run,
): Promise<number> {
  const { host, interruption, options } = context;
  const output = runOutput(context, { resolve: session.resolve, events: session.events });
  const onStream = passingTo(output);
  try {
    const holder = await holderNow(session);
    if (holder !== undefined)
      notice(
        host,
        `${holder} works on session "${session.id}". What it does is shown here; Ctrl-C ` +
          'ends that, not the run.',
      );
    const run = start({ onStream });
    const result = await interruption.during(
      () => run.stop(),
      () => run,
    );
    return reportRun(context, output, result);
  } catch (error) {
    if (!isAdjutantError(error, 'run_stopped')) throw error;
    const words = ['resume', session.id, ...laneWords(options.lane)];
    output.stopped(session.id, commandOf(context)?.(...words));
    return interruption.exitCode ?? exitCodes.failed;
  } finally {
    output.close();
  }
}

/** Shows how a run ended or which requests it waits for, and returns the exit code. */
export function reportRun(context: RunContext, output: RunOutput, result: RunResult): number {
  context.onResult?.(result);
  output.ended(result);
  if (result.status === 'yielded') output.waits(waitedFor(context, result));
  return reportEnd(context.host, result);
}

/** Returns a listener that passes the events of a run to an output, in the order of its stream. */
function passingTo(output: RunOutput): (event: StreamEvent) => void {
  return (event) => {
    if (isDurable(event)) output.recorded(event);
    output.streamed(event);
  };
}

function waitedFor(
  context: RunContext,
  { pendingCalls, awaitingInput, sleepsUntil, session, runId }: RunResult,
): string[] {
  const command = commandOf(context);
  const lane = laneOf(session.events, runId);
  const resume = ['resume', session.id, ...laneWords(lane)];
  const waiting = {
    requests: pendingCalls.map(askedBy),
    message: awaitingInput,
    sleepsUntil,
    session: session.id,
    lane,
  };
  const lines = waitingLines(styleFor(context.host.stdout), waiting, command);
  if (lines.length > 0) return lines;
  return [command === undefined ? 'Paused.' : `Paused. Continue with: ${command(...resume)}`];
}

/** Writer of commands. `undefined`: none goes on with what was begun. */
function commandOf({ hasCommands, options }: RunContext): CommandText | undefined {
  return hasCommands === false ? undefined : commandText(options);
}

export function commandText(options: ShownOptions): CommandText {
  return (...words) => commandLine(words, options);
}

/** Returns the output that shows a run. @param recorded earlier events of its session */
export function runOutput(
  { host, options }: RunContext,
  recorded: Pick<TextOutputOptions, 'resolve' | 'events'>,
): RunOutput {
  const { stdout: stream, stderr: notices, clock, env } = host;
  if (options.json === true) return new JsonOutput(stream);
  return new TextOutput({
    stream,
    notices,
    clock,
    isQuiet: host.isQuiet === true,
    isLive: stream.isTTY === true && env['TERM'] !== 'dumb',
    ...recorded,
  });
}

function reportEnd(host: Host, { status, error }: RunResult): number {
  if (status === 'completed') return exitCodes.ok;
  if (status === 'yielded') return exitCodes.waiting;
  const reason =
    status === 'cancelled'
      ? 'The run was cancelled.'
      : `The run failed: ${error?.message ?? 'no reason was recorded.'}`;
  host.stderr.write(`${styleFor(host.stderr).red(`adjutant: ${plainLine(reason)}`)}\n`);
  return exitCodes.failed;
}

/**
 * Options repeated in a suggested command. A key is not among them: it would stay in the history of
 * the shell.
 */
export type ShownOptions = Pick<ProjectFlags, 'model' | 'store' | 'app' | 'root' | 'config'> &
  ServerFlags;

/** Returns a command to type next, with the options of the present one. */
export function commandLine(
  words: readonly string[],
  { model, store, app, root, config, server }: ShownOptions,
): string {
  const named = { model, store, app, root, config, server };
  const given = Object.entries(named).flatMap(([name, value]) =>
    typeof value === 'string' ? [`--${name}`, value] : value === false ? [`--no-${name}`] : [],
  );
  return [...ownName(), ...words, ...given].map(shellWord).join(' ');
}

/** Returns a word quoted for a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
