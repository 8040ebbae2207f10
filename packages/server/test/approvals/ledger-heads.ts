import type { waitingServer } from './paying-app.ts';

/** Where all ledgers of an app end. */
export async function heads(
  app: Awaited<ReturnType<typeof waitingServer>>['app'],
): Promise<unknown> {
  return (await app.sessions.list()).sessions.map(({ id, seq, updatedAt }) => [id, seq, updatedAt]);
}
