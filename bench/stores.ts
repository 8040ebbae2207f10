import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import type { Store } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import pg from 'pg';
import { durableAdjutant } from './contenders/durable-adjutant.ts';
import type { DurableContender } from './contenders/durable-contender.ts';
import { durableLangGraph } from './contenders/durable-langgraph.ts';
import { findSqliteSaver } from './langgraph-sqlite.ts';
import type { Settings } from './row.ts';

/** A place where sessions are kept, empty, with everybody who can keep his there. */
export interface OpenStore extends AsyncDisposable {
  readonly name: 'SQLite FULL' | 'SQLite NORMAL' | 'PostgreSQL';
  readonly store: Store;
  readonly ours: DurableContender;
  readonly peers: readonly DurableContender[];
}

/** SQLite FULL, and PostgreSQL where there is one. */
export async function openStores(settings: Settings): Promise<readonly OpenStore[]> {
  const opened: OpenStore[] = [await openSqlite(settings, 'full')];
  if (postgresUrl !== undefined) opened.push(await openPostgres(postgresUrl));
  return opened;
}

let files = 0;

export async function openSqlite(
  { folder }: Settings,
  synchronous: 'full' | 'normal',
): Promise<OpenStore> {
  const path = join(folder, `store-${++files}.db`);
  const peerPath = join(folder, `peer-${files}.db`);
  const store = sqlite(path, { synchronous });
  const { open, reason } = await findSqliteSaver();
  if (reason !== undefined)
    note(
      `NOT MEASURED: LangGraph.js on SQLite (@langchain/langgraph-checkpoint-sqlite): ${reason}.`,
    );
  const saver = open?.(peerPath, synchronous);
  const ours = durableAdjutant(store, async () => pagesOf(path));
  return {
    name: synchronous === 'full' ? 'SQLite FULL' : 'SQLite NORMAL',
    store,
    ours,
    peers:
      saver === undefined ? [] : [durableLangGraph(saver.checkpointer, async () => saver.bytes())],
    async [Symbol.asyncDispose]() {
      saver?.close();
      await ours.close();
    },
  };
}

/** Also those that are still in the log. */
function pagesOf(path: string): number {
  const database = new DatabaseSync(path);
  try {
    const [pages, size] = ['page_count', 'page_size'].map((name) =>
      Number(database.prepare(`pragma ${name}`).get()?.[name]),
    );
    return (pages as number) * (size as number);
  } finally {
    database.close();
  }
}

export async function openPostgres(url: string): Promise<OpenStore> {
  const pool = new pg.Pool({ connectionString: url });
  const name = `adjutant_bench_${randomBytes(6).toString('hex')}`;
  const [schema, peerSchema] = [name, `${name}_peer`];
  const store = postgres({ pool, schema });
  const saver = new PostgresSaver(pool, undefined, { schema: peerSchema });
  await saver.setup();
  const ours = durableAdjutant(store, () => relationsOf(pool, schema));
  return {
    name: 'PostgreSQL',
    store,
    ours,
    peers: [durableLangGraph(saver, () => relationsOf(pool, peerSchema))],
    async [Symbol.asyncDispose]() {
      await ours.close();
      for (const made of [schema, peerSchema])
        await pool.query(`drop schema if exists "${made}" cascade`);
      await pool.end();
    },
  };
}

/** Tables with their indexes and what lies outside of their rows. */
async function relationsOf(pool: pg.Pool, schema: string): Promise<number> {
  const sizes = `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes from pg_class c
    join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`;
  const { rows } = await pool.query<{ bytes: string }>(sizes, [schema]);
  return Number(rows[0]?.bytes);
}

const said = new Set<string>();

/** Tells the reader what could not be measured, at once and again under the table. */
export function note(text: string): void {
  if (said.has(text)) return;
  said.add(text);
  console.error(text);
}

export function storeNotes(): readonly string[] {
  return [...said];
}

/**
 * Where PostgreSQL is: `PG_URL`, or a server of this machine that takes anybody; `undefined` when
 * there is none.
 */
export const postgresUrl: string | undefined = await findPostgres();

async function findPostgres(): Promise<string | undefined> {
  const url = process.env['PG_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    return url;
  } catch (error) {
    const reason = (error as Error).message || (error as { code?: string }).code;
    note(
      `NOT MEASURED: everything on PostgreSQL, because there is none (${reason}). Set ` +
        'PG_URL, or say "npm run with-postgres -- npm run bench".',
    );
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}
