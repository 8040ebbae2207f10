import { type Event, isDurable, type StreamEvent } from 'adjutant';
import { exitCodes } from '../failure.ts';
import type { FollowContext } from './app-access.ts';

/**
 * Shows the events of a session as they come, until the run has ended that is the last one when
 * all events of the beginning are shown. Returns its exit code, or that of a signal.
 * @param recorded number of events that the session has at the beginning
 * @param open begins to follow the session from its first event on
 */
export async function followRun(
  { interruption, onEvent }: FollowContext,
  recorded: number,
  open: (signal: AbortSignal) => AsyncIterable<StreamEvent>,
): Promise<number> {
  const leaving = new AbortController();
  return interruption.during(
    () => leaving.abort(),
    async () => {
      const run = new FollowedRun();
      for await (const event of open(leaving.signal)) {
        if (!isDurable(event)) continue;
        onEvent(event);
        run.add(event);
        if (event.seq >= recorded && run.exitCode !== undefined) return run.exitCode;
      }
      return interruption.exitCode ?? exitCodes.failed;
    },
  );
}

/** The last run of a session, as far as its events tell. */
class FollowedRun {
  /** Exit code of the run. `undefined`: it is open, or none has begun. */
  exitCode: number | undefined;

  add(event: Event): void {
    if (event.type === 'invocation_start' && event.mode === 'root') this.exitCode = undefined;
    if (event.type === 'invocation_reopen' && isRoot(event)) this.exitCode = undefined;
    if (event.type === 'invocation_end' && isRoot(event) && event.next === undefined)
      this.exitCode = event.status === 'completed' ? exitCodes.ok : exitCodes.failed;
  }
}

/** True for the root of a run, and for the targets of its handoffs. */
function isRoot({ invocationId = '' }: Event): boolean {
  return !invocationId.includes('/');
}
