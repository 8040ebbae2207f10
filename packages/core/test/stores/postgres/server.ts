import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Where tests find PostgreSQL: `PG_URL`, or a server of this machine that takes anybody. */
export const serverUrl = process.env['PG_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

async function findReasonToSkip(): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return undefined;
  } catch (error) {
    const reason =
      `there is no PostgreSQL at ${serverUrl.replace(/:[^:@/]+@/, ':***@')} ` +
      `(${(error as Error).message || (error as { code?: string }).code}); set PG_URL, or ` +
      'say "npm run with-postgres -- npm test"';
    // Where everything must be tested, nothing is left out quietly.
    if (process.env['CI'] !== undefined && process.env['CI'] !== '')
      throw new Error(`The tests of the PostgreSQL store cannot run: ${reason}.`);
    console.warn(`SKIPPED: the tests of the PostgreSQL store, because ${reason}.`);
    return reason;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Reason to skip the tests that need a server, if there is one. @throws Error in CI, where they may
 * not be
 */
export const reasonToSkip: string | undefined = await findReasonToSkip();

export interface TestSchema {
  readonly name: string;
  /** Runs a statement on a connection of its own. */
  query(text: string, values?: unknown[]): Promise<readonly Record<string, unknown>[]>;
  drop(): Promise<void>;
}

const admin = new pg.Pool({ connectionString: serverUrl, max: 2, allowExitOnIdle: true });

/** A name for a schema of one test. */
export function newSchema(): TestSchema {
  const name = `adjutant_test_${randomBytes(6).toString('hex')}`;
  return {
    name,
    query: async (text, values) =>
      (await admin.query(text, values)).rows as Record<string, unknown>[],
    drop: async () => {
      await admin.query(`drop schema if exists "${name}" cascade`);
    },
  };
}

export function newPool(url: string = serverUrl): pg.Pool {
  return new pg.Pool({ connectionString: url, max: 5 });
}
