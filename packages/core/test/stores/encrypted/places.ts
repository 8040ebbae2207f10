import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from 'adjutant';
import {
  type EncryptedOptions,
  type EncryptedStore,
  encrypted,
  type KeyProvider,
  localKeys,
} from 'adjutant/encryption';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import type { LedgerStore } from 'adjutant/store';
import { rowId } from '../../../src/stores/sqlite/rows/rows-by-id.ts';
import { newPool, newSchema, reasonToSkip, serverUrl } from '../postgres/server.ts';

export const scope = { tenant: 'acme', app: 'shop' };

export const firstKey = { id: 'k1', secret: 'the first secret of these tests, 0123456789' };
export const secondKey = { id: 'k2', secret: 'the second secret of these tests, 0123456789' };

export interface StoredEvent {
  readonly at: number;
  readonly type: number;
  readonly body: string;
}

/** A file, or a schema of a server. */
export type PlaceAddress =
  | { readonly path: string }
  | { readonly schema: string; readonly url: string };

/** A database that can be looked at and changed behind the store's back. */
export interface DatabasePlace {
  /** Where another process finds it. */
  readonly address: PlaceAddress;
  /** The store without encryption. */
  openPlain(): Store;
  open(keys?: KeyProvider, options?: Partial<EncryptedOptions>): EncryptedStore;
  /**
   * @param statement names tables as `{s}table`; its values are `$1`, `$2`, … @returns how many
   * rows were changed
   */
  change(statement: string, values?: readonly (string | number)[]): Promise<number>;
  /** @param query names tables as `{s}table` */
  rows(query: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Puts the stored form of a ledger's first event back. */
  restoreEvent(ledger: number, event: StoredEvent): Promise<void>;
  /** All that is stored, as text in which every byte of a text is itself. */
  contents(): Promise<string>;
  remove(): Promise<void>;
}

function opener(openPlain: () => Store): DatabasePlace['open'] {
  return (keys = localKeys({ keys: [firstKey] }), options = {}) =>
    encrypted(openPlain(), { keys, ...options });
}

async function inFile(): Promise<DatabasePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-encrypted-'));
  const path = join(folder, 'store.db');
  const openPlain = (): Store => sqlite(path, { synchronous: 'normal' });
  const within = <Result>(
    statement: string,
    work: (database: DatabaseSync, sql: string) => Result,
  ): Result => {
    const database = new DatabaseSync(path);
    try {
      return work(database, statement.replaceAll('{s}', '').replaceAll(/\$\d/g, '?'));
    } finally {
      database.close();
    }
  };
  const change: DatabasePlace['change'] = async (statement, values = []) =>
    within(statement, (database, sql) => Number(database.prepare(sql).run(...values).changes));
  return {
    address: { path },
    openPlain,
    open: opener(openPlain),
    change,
    restoreEvent: async (ledger, { at, type, body }) => {
      await change(
        `insert into events (id, at, type, actor, path, body) values (${rowId('$1', '1')}, ` +
          `$2, $3, '0', '0', $4)`,
        [ledger, at, type, body],
      );
    },
    rows: async (query) => within(query, (database, sql) => database.prepare(sql).all()),
    contents: async () => {
      const files = await Promise.all(
        (await readdir(folder)).map((name) => readFile(join(folder, name), 'latin1')),
      );
      return files.join('\n');
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function inSchema(): Promise<DatabasePlace> {
  const schema = newSchema();
  const pool = newPool();
  const openPlain = (): Store => postgres({ pool, schema: schema.name });
  const inside = (statement: string): string => statement.replaceAll('{s}', `"${schema.name}".`);
  const change: DatabasePlace['change'] = async (statement, values = []) =>
    (await schema.query(`${inside(statement)} returning 1`, [...values])).length;
  return {
    address: { schema: schema.name, url: serverUrl },
    openPlain,
    open: opener(openPlain),
    change,
    restoreEvent: async (ledger, { at, type, body }) => {
      await change(
        'insert into {s}events (ledger, seq, at, type, actor, path, body) values ($1, 1, ' +
          "$2, $3, '0', '0', $4)",
        [ledger, at, type, body],
      );
    },
    rows: (query) => schema.query(inside(query)),
    contents: async () => {
      const tables = await schema.query('select tablename from pg_tables where schemaname = $1', [
        schema.name,
      ]);
      const dumps = await Promise.all(
        tables.map(({ tablename }) =>
          schema.query(inside(`select t::text as row from {s}"${tablename}" t`)),
        ),
      );
      // Bytes are printed in hexadecimal digits.
      const shown = dumps
        .flat()
        .map(({ row }) =>
          String(row).replaceAll(/\\x([0-9a-f]*)/g, (_, hex: string) =>
            Buffer.from(hex, 'hex').toString('latin1'),
          ),
        );
      return shown.join('\n');
    },
    remove: async () => {
      await pool.end();
      await schema.drop();
    },
  };
}

/** PostgreSQL is left out where there is none; `reasonToSkip` has said so. */
export const places: readonly (readonly [name: string, make: () => Promise<DatabasePlace>])[] = [
  ['sqlite', inFile],
  ...(reasonToSkip === undefined ? [['postgres', inSchema] as const] : []),
];

export interface OpenedPlace extends DatabasePlace {
  /** Closes all that was opened so far. */
  close(): Promise<void>;
}

/** A place for one test; what was opened is closed and removed after it. */
export async function withPlace(
  make: () => Promise<DatabasePlace>,
  work: (place: OpenedPlace) => Promise<void>,
): Promise<void> {
  const made = await make();
  const opened: Store[] = [];
  const kept = <Opened extends Store>(store: Opened): Opened => {
    opened.push(store);
    return store;
  };
  const close = async (): Promise<void> => {
    for (const store of opened.splice(0)) await store.close();
  };
  const open = (...args: Parameters<DatabasePlace['open']>): EncryptedStore =>
    kept(made.open(...args));
  try {
    await work({ ...made, openPlain: () => kept(made.openPlain()), open, close });
  } finally {
    await close();
    await made.remove();
  }
}

export async function textsOf(ledgers: LedgerStore, session: string): Promise<readonly unknown[]> {
  const texts: unknown[] = [];
  for await (const page of ledgers.read(session))
    for (const event of page) texts.push('text' in event ? event.text : event.type);
  return texts;
}
