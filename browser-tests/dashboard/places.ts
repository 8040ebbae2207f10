import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from 'adjutant';
import { onTestFinished } from 'vitest';
import { storeAt } from './stores.ts';

const onPostgres = process.env['DASHBOARD_STORE'] === 'postgres';
let places = 0;

/**
 * A place for the store of a test, emptied afterwards: a file of SQLite, with `--long` a schema of
 * PostgreSQL the second time.
 */
export async function testPlace(): Promise<string> {
  if (onPostgres) {
    const { newSchema, serverUrl } = await import(
      '../../packages/core/test/stores/postgres/server.ts'
    );
    const schema = newSchema();
    onTestFinished(() => schema.drop());
    return `${serverUrl}#${schema.name}`;
  }
  const file = join(tmpdir(), `dashboard-${process.pid}-${Date.now()}-${places++}.db`);
  onTestFinished(() => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
  });
  return file;
}

/** The store of a test. */
export async function testStore(): Promise<Store> {
  return storeAt(await testPlace());
}
