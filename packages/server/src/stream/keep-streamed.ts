import type { Runtime } from 'adjutant';

/**
 * Lets an app keep what its runs stream from now on, so that the first who comes in the middle of an answer gets what was written before. An app
 * begins to do so when somebody follows one of its sessions, and a server's clients come after the runs that they start.
 */
export function keepStreamed(app: Runtime): void {
  const asking = app.follow('-', { signal: AbortSignal.abort() });
  // Nobody needs to have such a session.
  void asking.next().catch(() => undefined);
}
