import { SessionBusyError } from '../../ledger/errors.ts';
import type { ContentAccess, ContentDialect, ContentRow } from '../content-access.ts';
import { OwnerSurvey } from '../owner.ts';
import { quoteName } from './database.ts';
import { describeFailure } from './failure.ts';
import type { PostgresPool, PostgresPoolClient, PostgresResult } from './pool.ts';
import { fromStorable, toStorable } from './storable-text.ts';

const dialect: ContentDialect = {
  user: 'user_id',
  requestId: 'request_id',
  requestBody: 'request',
  eventsAfter: 'ledger = $1 and seq > $2 order by seq',
  rowIs: (column) => `ledger = $1 and ${column} = $2`,
  bytes: 'bytea',
  toStored: toStorable,
  fromStored: fromStorable,
};

/** Tables with content, which are locked and written anew. */
const tables = [
  'ledgers',
  'events',
  'inbox',
  'outbox',
  'listed_rows',
  'requests',
  'blobs',
  'blob_references',
  'shared',
  'snapshots',
] as const;

/** Milliseconds to wait for statements of other processes that are under way. */
const longestLockMs = 10_000;

interface StatementClient extends PostgresPoolClient {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** The tables of a schema, on one connection of the pool. */
export class PostgresContent implements ContentAccess {
  readonly dialect = dialect;
  readonly #store: string;
  readonly #schema: string;
  readonly #client: StatementClient;

  private constructor(store: string, schema: string, client: PostgresPoolClient) {
    this.#store = store;
    this.#schema = quoteName(schema);
    this.#client = client;
  }

  static async open(store: string, schema: string, pool: PostgresPool): Promise<PostgresContent> {
    try {
      return new PostgresContent(store, schema, await pool.connect());
    } catch (error) {
      throw describeFailure(error, store);
    }
  }

  async query(statement: string, values: readonly unknown[] = []): Promise<readonly ContentRow[]> {
    try {
      const sql = statement.replaceAll('{s}', () => `${this.#schema}.`);
      const { rows } = (await this.#client.query(sql, [...values])) as PostgresResult;
      return rows as readonly ContentRow[];
    } catch (error) {
      throw describeFailure(error, this.#store);
    }
  }

  async begin(isMeant: (app: string) => boolean): Promise<void> {
    await this.query('begin');
    await this.query(`set local lock_timeout = ${longestLockMs}`);
    const names = tables.map((table) => `{s}${table}`).join(', ');
    await this.query(`lock table ${names} in access exclusive mode`);
    await this.#assertUnused(isMeant);
  }

  /** @throws SessionBusyError while a process holds a session */
  async #assertUnused(isMeant: (app: string) => boolean): Promise<void> {
    const held = await this.query(
      'select app, session, owner, lease_until from {s}ledgers where session is not null and ' +
        'owner is not null and lease_until > {s}now_ms(null::bigint)',
    );
    const owners = new OwnerSurvey();
    for (const { app, session, owner, lease_until: until } of held) {
      const name = fromStorable(String(owner));
      if (owners.isGone(name) || !isMeant(fromStorable(String(app)))) continue;
      const data = { session: fromStorable(String(session)), owner: name, until: Number(until) };
      throw new SessionBusyError(data);
    }
  }

  async commit(): Promise<void> {
    await this.query('commit');
  }

  async rollback(): Promise<void> {
    await this.query('rollback');
  }

  async compact(): Promise<void> {
    for (const table of tables) await this.query(`vacuum full {s}${table}`);
  }

  async close(): Promise<void> {
    this.#client.release();
  }
}
