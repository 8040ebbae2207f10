import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type Store } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';

/** The stores that routes are tested on. */
export const stores: readonly (readonly [string, () => Store])[] = [
  ['memory', () => memoryStore()],
  ['SQLite', () => sqlite(join(mkdtempSync(join(tmpdir(), 'adjutant-rest-')), 'app.db'))],
];
