import {
  type Agent,
  isAdjutantError,
  type Run,
  type RunResult,
  type Runtime,
  runtime,
  type Store,
} from 'adjutant';
import { validateResumeState } from 'adjutant/views';

export const id = 'the-session';

export function newProcess(store: Store, runnable: Agent): Runtime {
  return runtime({ app: 'restarts', store, runnables: [runnable], recover: 'manual' });
}

/**
 * Works on the session in a process of its own, which stops at the event `stopAt`. `undefined`: it
 * was stopped.
 */
export async function work(
  store: Store,
  runnable: Agent,
  stopAt = Number.POSITIVE_INFINITY,
): Promise<RunResult | undefined> {
  const app = newProcess(store, runnable);
  const session = await app.sessions.open({ id });
  const isOpen = validateResumeState(session.events).openRun !== undefined;
  const run: Run = isOpen
    ? app.resume(session)
    : app.run(runnable, { session, runId: 'run', input: 'Go' });
  const forget = session.ledger.onDraft(({ seq }) => {
    if (seq >= stopAt) run.stop();
  });
  try {
    return await run;
  } catch (error) {
    if (!isAdjutantError(error, 'run_stopped')) throw error;
    return undefined;
  } finally {
    forget();
    await run.settled();
    await app.close();
  }
}
