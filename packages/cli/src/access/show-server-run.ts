import type { AdjutantClient } from '@adjutant/server/client';
import { type Event, isDurable, type Session } from 'adjutant';
import { commandLine, type RunContext, reportRun, runOutput } from '../actions/carry-out.ts';
import { exitCodes } from '../failure.ts';
import { jsonLine } from '../output/json-output.ts';
import { laneWords } from '../output/lane-text.ts';
import { notice } from '../output/notice.ts';
import type { RunOutput } from '../output/run-output.ts';
import { restsBy, resultOf, sessionOf, withLargeValues } from './server-session.ts';

export interface WatchedRun {
  readonly session: string;
  readonly run: string;
  /** Events of the ledger before the command asked for the run. */
  readonly before: readonly Event[];
  /** True when nothing will come of it: the run waits as before. */
  readonly isAtRest?: boolean;
}

/**
 * Shows a run of a server until it ends or waits, as if it were one of this process. Returns the
 * exit code. A signal ends the showing, not the run.
 * @param begin starts the run to show; a signal that comes meanwhile takes effect after it
 */
export async function showRun(
  context: RunContext,
  client: AdjutantClient,
  begin: () => Promise<WatchedRun>,
): Promise<number> {
  const leaving = new AbortController();
  return context.interruption.during(
    () => leaving.abort(),
    async () => show(context, client, await begin(), leaving.signal),
  );
}

async function show(
  context: RunContext,
  client: AdjutantClient,
  watched: WatchedRun,
  signal: AbortSignal,
): Promise<number> {
  const output = runOutput(context, { resolve: (value) => value, events: watched.before });
  try {
    const session = await watch(client, watched, output, signal);
    if (session !== undefined) return reportRun(context, output, resultOf(session, watched.run));
  } finally {
    output.close();
  }
  sayHowToGoOn(context, watched);
  return context.interruption.exitCode ?? exitCodes.failed;
}

/** Returns the session when the run ends or waits. `undefined`: a signal ended the showing. */
async function watch(
  client: AdjutantClient,
  { session, run, before, isAtRest = false }: WatchedRun,
  output: RunOutput,
  signal: AbortSignal,
): Promise<Session | undefined> {
  const events = [...before];
  if (isAtRest) return sessionOf(session, events);
  for await (const streamed of client.sessions.follow(session, { after: before.length, signal })) {
    if (!isDurable(streamed)) {
      output.streamed(streamed);
      continue;
    }
    const event = await withLargeValues(client, session, streamed);
    events.push(event);
    output.recorded(event);
    output.streamed(event);
    if (restsBy(run, event)) return sessionOf(session, events);
  }
  return undefined;
}

function sayHowToGoOn({ host, options }: RunContext, { session, run }: WatchedRun): void {
  if (options.json === true) {
    host.stdout.write(jsonLine({ type: 'left', session, runId: run }));
    return;
  }
  const cancel = ['cancel', session, ...laneWords(options.lane)];
  notice(
    host,
    `The run goes on at the server. See it: ${commandLine(['show', session], options)}. ` +
      `End it: ${commandLine(cancel, options)}`,
  );
}
