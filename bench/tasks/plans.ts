import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { postgres } from 'adjutant/postgres';
import pg from 'pg';
import { type AdjutantQueue, appName, nothing } from './adjutant-queue.ts';
import { claimMs } from './task-queue.ts';

/** The look-ups of a worker that has names, in their order. */
const lookUps = [
  'takenWith',
  'due',
  'owners',
  'lost',
  'dueWithoutTurn',
  'controlDue',
  'oldestOfLevelNamed',
  'busyFlows',
  'oldestOfFlowNamed',
  'firstResting',
] as const;

/** The statements of the store, which no subpath of the package has. */
interface StoreInside {
  readonly turnQueries: Readonly<Record<(typeof lookUps)[number], string>>;
  readonly migrations: readonly (string | ((database: DatabaseSync) => void))[];
}

async function inside(): Promise<StoreInside> {
  const home = join(import.meta.dirname, '../../packages/core/src/stores/sqlite');
  const load = (file: string): Promise<object> => import(pathToFileURL(join(home, file)).href);
  return { ...(await load('rows/turn-queries.ts')), ...(await load('tables.ts')) } as StoreInside;
}

/** Steps of SQLite for each look-up. Its texts name their indexes, so that no number matters. */
export async function planOnSqlite(): Promise<readonly string[]> {
  const { migrations, turnQueries } = await inside();
  const database = new DatabaseSync(':memory:');
  for (const step of migrations)
    if (typeof step === 'string') database.exec(step);
    else step(database);
  const plans = lookUps.map((name) => {
    const steps = database
      .prepare(`explain query plan ${turnQueries[name]}`)
      .all()
      .map(({ detail }) => String(detail));
    return `  ${name}: ${steps.join('; ')}`;
  });
  database.close();
  return plans;
}

/**
 * Scans of one call as PostgreSQL made them, with the rows that each read: its own words for what
 * it executed within the functions, by auto_explain.
 */
export async function planOnPostgres({ place }: AdjutantQueue): Promise<readonly string[]> {
  if (place.kind !== 'adjutant') return [];
  const { schema, url } = place;
  const client = new pg.Client({ connectionString: url });
  const messages: string[] = [];
  client.on('notice', ({ message }) => messages.push(message ?? ''));
  await client.connect();
  const store = postgres({
    pool: {
      query: (text, values) => client.query(text, values),
      connect: () => Promise.reject(new Error('Nothing listens here.')),
    },
    schema,
  });
  let tickets = 0;
  const take = () =>
    store.admin.take({
      ...{ app: appName, owner: 'plan', ticket: `plan ${++tickets}`, ttlMs: claimMs },
      ...{ slots: 1, names: [nothing.name] },
    });
  try {
    await client.query('begin');
    await take();
    await client.query(
      `load 'auto_explain';
      set local auto_explain.log_min_duration = 0; set local auto_explain.log_analyze = on;
      set local auto_explain.log_timing = off; set local auto_explain.log_nested_statements = on;
      set local client_min_messages = log;`,
    );
    await take();
    return scansIn(messages);
  } catch (error) {
    return [`  none: ${(error as Error).message}`];
  } finally {
    await client.query('rollback').catch(() => undefined);
    await store.close();
    await client.end();
  }
}

/** Different scans of the messages, each with the largest number of rows that it read. */
function scansIn(messages: readonly string[]): readonly string[] {
  const rowsOfScan = new Map<string, number>();
  const scan =
    /(\w[\w ]* Scan using \w+ on \w+|(?:Seq|Bitmap Heap) Scan on \w+).*rows=(\d+) loops=(\d+)/g;
  for (const message of messages)
    for (const [, name = '', rows, loops] of message.matchAll(scan)) {
      const read = Number(rows) * Number(loops);
      rowsOfScan.set(name, Math.max(rowsOfScan.get(name) ?? 0, read));
    }
  return [...rowsOfScan].map(([name, rows]) => `  ${name}: ${rows} rows at most`);
}
