import { isAdjutantError, type Session } from 'adjutant';
import { validateResumeState } from 'adjutant/views';
import { holderOf, UsageError } from '../failure.ts';
import { plainLine } from '../output/plain-text.ts';

/** Name of the runnable whose run is open in a session. `undefined`: no run is open. */
export function openRunOf({ events }: Session): string | undefined {
  const { openRun } = validateResumeState(events);
  const start = events.find(
    (event) => event.type === 'invocation_start' && event.invocationId === openRun,
  );
  return start?.type === 'invocation_start' ? start.name : undefined;
}

/**
 * Reason why the agent of this name cannot continue the open run of a session. `undefined`: it can.
 */
export function whyNotHere(session: Session, name: string): string | undefined {
  const found = openRunOf(session) ?? name;
  return found === name
    ? undefined
    : `it is a run of "${plainLine(found)}", not of the agent of the command line`;
}

/**
 * Checks that the agent of this name can continue the open run of a session.
 * @throws UsageError
 */
export function assertKnown(session: Session, name: string): void {
  const found = openRunOf(session) ?? name;
  if (found === name) return;
  throw new UsageError({
    reason: plainLine(
      `The run of session "${session.id}" is one of "${found}", which this program does not ` +
        `know. Nothing has been done. Continue it in the program whose app has "${found}", or ` +
        'serve that app: adjutant serve, in the folder of its adjutant.config.ts.',
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
