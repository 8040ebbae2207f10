import { type Event, type EventOf, isAdjutantError, type Runnable, type Session } from 'adjutant';
import { defined } from 'adjutant/text';
import { validateResumeState } from 'adjutant/views';
import { holderOf, UsageError } from '../failure.ts';
import { ownCommand } from '../host/own-name.ts';
import { shownName } from '../modules/load-module.ts';
import { plainLine } from '../output/plain-text.ts';
import type { Project } from './project.ts';

/** Path of the run: the first part of an invocation's path. */
export function runOf(invocationId: string): string {
  return invocationId.split(/[/>]/, 1)[0] as string;
}

/** Lane of the run that an invocation belongs to. `undefined`: the default lane. */
export function laneOf(events: readonly Event[], invocationId: string): string | undefined {
  return startOf(events, runOf(invocationId))?.lane;
}

/** Lanes of the runs of a session, in the order of their first runs. */
export function lanesOf({ events }: Pick<Session, 'events'>): readonly (string | undefined)[] {
  const lanes = events.flatMap((event) =>
    event.type === 'invocation_start' && event.mode === 'root' ? [event.lane] : [],
  );
  return [...new Set(lanes)];
}

/** Name of the runnable whose run is open in a lane. `undefined`: no run is open. */
export function openRunOf(
  { events }: Pick<Session, 'events'>,
  lane: string | undefined,
): string | undefined {
  const { openRun } = validateResumeState(events, defined({ lane }));
  return openRun === undefined ? undefined : startOf(events, openRun)?.name;
}

function startOf(
  events: readonly Event[],
  invocationId: string,
): EventOf<'invocation_start'> | undefined {
  const start = events.find(
    (event) => event.type === 'invocation_start' && event.invocationId === invocationId,
  );
  return start?.type === 'invocation_start' ? start : undefined;
}

/** Reason why a project cannot continue the open run of a lane. `undefined`: it can. */
export function whyNotHere(
  session: Session,
  { find, configured }: Project,
  lane: string | undefined,
): string | undefined {
  const name = openRunOf(session, lane);
  if (name === undefined || find(name) !== undefined) return undefined;
  const run = `it is a run of "${plainLine(name)}"`;
  return configured === undefined
    ? `${run}, not of the agent of the command line`
    : `${run}, which ${shownName(configured)} does not have`;
}

/**
 * Returns the runnable whose run is open in a lane. `undefined`: no run is open.
 * @throws UsageError when the project does not have it
 */
export function openRunnable(
  session: Session,
  { find, configured }: Project,
  lane: string | undefined,
): Runnable | undefined {
  const name = openRunOf(session, lane);
  const found = name === undefined ? undefined : find(name);
  if (name === undefined || found !== undefined) return found;
  const who = configured === undefined ? 'this program' : shownName(configured);
  throw new UsageError({
    reason: plainLine(
      `The run of session "${session.id}" is one of "${name}", which ${who} does not ` +
        `know. Nothing has been done. Continue it in the program whose app has "${name}", or ` +
        `here, in the folder of its adjutant.config.ts: ${ownCommand('resume')}, or ` +
        `${ownCommand('serve')}.`,
    ),
  });
}

/**
 * Name of the process that holds a session. `undefined`: no other process does, and this one now
 * owns it.
 */
export async function holderNow(session: Session): Promise<string | undefined> {
  try {
    await session.claim();
    return undefined;
  } catch (error) {
    if (!isAdjutantError(error, 'session_busy')) throw error;
    const process = holderOf(error);
    return process === undefined ? 'Another process' : `Process ${process}`;
  }
}
