import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type Store } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { newPool, newSchema, reasonToSkip } from '../stores/postgres/server.ts';

/** A store that all cases share, each with a session of its own. */
export interface MatrixStore {
  readonly name: string;
  readonly store: () => Store;
  /** Cases at the same time. */
  readonly atOnce: number;
  readonly close: () => Promise<void>;
}

function inMemory(): MatrixStore {
  return { name: 'memory', store: () => memoryStore(), atOnce: 2, close: async () => undefined };
}

function inSqlite(): MatrixStore {
  const directory = mkdtempSync(join(tmpdir(), 'adjutant-matrix-'));
  // Processes stop here, not the machine.
  const store = sqlite(join(directory, 'matrix.db'), { synchronous: 'normal' });
  return {
    name: 'SQLite',
    store: () => store,
    atOnce: 8,
    close: async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function inPostgres(): MatrixStore {
  const schema = newSchema();
  const pool = newPool();
  const store = postgres({ pool, schema: schema.name });
  return {
    name: 'PostgreSQL',
    store: () => store,
    atOnce: 8,
    close: async () => {
      await store.close();
      await pool.end();
      await schema.drop();
    },
  };
}

/**
 * The stores to be tested. Without a server PostgreSQL is left out, which `server.ts` says; where
 * `CI` is set that is an error.
 */
export function openMatrixStores(): readonly MatrixStore[] {
  return [inMemory(), inSqlite(), ...(reasonToSkip === undefined ? [inPostgres()] : [])];
}
