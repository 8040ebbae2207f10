import { createClient } from 'redis';

/** Where tests find Redis: `REDIS_URL`, or a server of this machine. */
export const redisUrl = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';

async function findReasonToSkip(): Promise<string | undefined> {
  const client = createClient({
    url: redisUrl,
    socket: { connectTimeout: 5_000, reconnectStrategy: false },
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    client.destroy();
    return undefined;
  } catch (error) {
    const cause = (error as Error).message || (error as { code?: string }).code;
    const reason =
      `there is no Redis at ${redisUrl.replace(/:[^:@/]+@/, ':***@')} (${cause}); set ` +
      'REDIS_URL, or say "npm run with-redis -- npm test"';
    // Where everything must be tested, nothing is left out quietly.
    if (process.env['CI'] !== undefined && process.env['CI'] !== '')
      throw new Error(`The tests with Redis cannot run: ${reason}.`);
    console.warn(`SKIPPED: the tests with Redis, because ${reason}.`);
    return reason;
  }
}

/**
 * Reason to skip the tests that need Redis, if there is one. @throws Error in CI, where they may
 * not be
 */
export const reasonToSkip: string | undefined = await findReasonToSkip();
