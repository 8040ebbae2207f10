import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { memoryStore, type Store } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { newPool, newSchema, reasonToSkip } from './stores/postgres/server.ts';

/** Where a store of one test keeps what it is given. */
export interface StorePlace {
  open(): Store;
  /** To be called when all that was opened is closed. */
  remove(): Promise<void>;
}

/** A place whose rows can be changed behind the store's back. */
export interface DatabasePlace extends StorePlace {
  /**
   * @param statement names the table of events as `{events}`. @returns how many rows were changed
   */
  damage(statement: string): Promise<number>;
}

async function inMemory(): Promise<StorePlace> {
  return { open: () => memoryStore(), remove: async () => undefined };
}

async function inFile(): Promise<DatabasePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-place-'));
  const path = join(folder, 'store.db');
  return {
    open: () => sqlite(path),
    remove: () => rm(folder, { recursive: true, force: true }),
    damage: async (statement) => {
      const database = new DatabaseSync(path);
      const { changes } = database.prepare(statement.replaceAll('{events}', 'events')).run();
      database.close();
      return Number(changes);
    },
  };
}

async function inSchema(): Promise<DatabasePlace> {
  const schema = newSchema();
  const pool = newPool();
  return {
    open: () => postgres({ pool, schema: schema.name }),
    remove: async () => {
      await pool.end();
      await schema.drop();
    },
    damage: async (statement) =>
      (
        await schema.query(
          `${statement.replaceAll('{events}', `"${schema.name}".events`)} returning seq`,
        )
      ).length,
  };
}

/** PostgreSQL is left out where there is none; `reasonToSkip` has said so. */
export const databasePlaces: readonly (readonly [
  name: string,
  make: () => Promise<DatabasePlace>,
])[] = [
  ['sqlite', inFile],
  ...(reasonToSkip === undefined ? [['postgres', inSchema] as const] : []),
];

export const storePlaces: readonly (readonly [name: string, make: () => Promise<StorePlace>])[] = [
  ['memory', inMemory],
  ...databasePlaces,
];
