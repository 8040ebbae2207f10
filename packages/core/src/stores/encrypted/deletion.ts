import type { DeleteOptions } from '../../ledger/port.ts';

import type { LedgerParts } from './ledger-parts.ts';

/**
 * Deletes a session, its keys first: once begun, the session cannot be read any more, and can be
 * deleted again. The store knows which forks go along only when they are gone. A deletion that was
 * interrupted is completed by the next one, which then finds no session.
 */
export async function deleteSession(
  { inner, ring }: LedgerParts,
  session: string,
  options: DeleteOptions,
): Promise<void> {
  const isThere = (await inner.head(session)) !== undefined;
  const erases = options.erase === true;
  const relatives = erases || !isThere ? await ring.relativesOf(session) : [];
  if (isThere && !erases) await ring.destroy(session);
  try {
    await inner.delete(session, options);
  } finally {
    ring.forget(session);
    // Forks may have been made meanwhile. The record of the session goes last: it leads to the
    // others.
    const later = erases ? await ring.relativesOf(session) : [];
    const others = new Set([...relatives, ...later]);
    if (others.delete(session)) await ring.destroyGone([...others, session]);
  }
}
