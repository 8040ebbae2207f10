import { type CancelOptions, nothingToCancel, sayCancelled } from '../commands/cancel.ts';
import type { Host } from '../host.ts';
import { openClient, type RemoteOptions } from './open-client.ts';

/** Whoever works on a run heeds a cancel within a second; nobody may be working on it. */
const patienceMs = 10_000;

/** `adjutant cancel <session> --server <url>` */
export async function cancelRemotely(
  host: Host,
  session: string,
  options: RemoteOptions<CancelOptions>,
): Promise<number> {
  const client = await openClient(host, options);
  const { items } = await client.runs.list(session, { limit: 1 }).page();
  const [last] = items;
  if (last === undefined || !isOpen(last.status)) throw nothingToCancel(session);
  const { reason } = options;
  await client.runs.cancel(session, last.id, reason === undefined ? {} : { reason });
  const impatience = new AbortController();
  const cancelTimer = host.clock.setTimer(patienceMs, () => impatience.abort());
  try {
    const { status } = await client.runs.wait(session, last.id, {
      until: 'end',
      signal: impatience.signal,
    });
    if (status !== 'cancelled') throw nothingToCancel(session);
    return sayCancelled(
      host,
      options,
      session,
      status,
      `The run of session "${session}" is cancelled.`,
    );
  } catch (error) {
    if (!impatience.signal.aborted) throw error;
    return sayCancelled(
      host,
      options,
      session,
      'posted',
      `Session "${session}" is cancelled as soon as somebody works on it.`,
    );
  } finally {
    cancelTimer();
  }
}

function isOpen(status: string): boolean {
  return status === 'accepted' || status === 'running' || status === 'waiting';
}
