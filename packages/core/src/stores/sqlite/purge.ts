import type { WorkerConnection } from './connection.ts';
import type { BlobPlace } from './protocol.ts';

/** Removes blobs that nothing refers to; returns their number. */
export async function sweepBlobs(connection: WorkerConnection, before: number): Promise<number> {
  // A process that ended while it deleted a session may have left references.
  await purge(connection);
  let removed = 0;
  let after: BlobPlace | undefined;
  do {
    const swept = await connection.request('sweepBlobs', { before, after });
    removed += swept.removed;
    after = swept.last;
  } while (after !== undefined);
  return removed;
}

/** Removes the rows of deleted sessions, in steps between which other requests get their turn. */
export async function purge(connection: WorkerConnection): Promise<void> {
  while (await connection.request('purge', null));
}
