/**
 * A process that encrypts a store with content: `node encrypting-process.ts <EncryptingOrder as
 * JSON>`. It kills itself before the statement with a number, and prints how many there were.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Store } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import pg from 'pg';
import type { PlaceAddress } from './places.ts';

export interface EncryptingOrder {
  readonly address: PlaceAddress;
  readonly key: { readonly id: string; readonly secret: string };
  /** Number of the statement before which the process kills itself. @default none */
  readonly killBefore?: number;
}

const order = JSON.parse(process.argv[2] ?? '') as EncryptingOrder;
let statements = 0;

function count(): void {
  statements += 1;
  if (statements === order.killBefore) process.kill(process.pid, 'SIGKILL');
}

/** Counts calls of a method of Node or of `pg`. */
function counting(target: object, name: string): void {
  const methods = target as Record<string, (...values: readonly unknown[]) => unknown>;
  const method = methods[name] as (...values: readonly unknown[]) => unknown;
  methods[name] = function (this: unknown, ...values) {
    count();
    return method.apply(this, [...values]);
  };
}

function opened(address: PlaceAddress): Store {
  if ('path' in address) {
    // Only those of this thread: the keys are written by the worker thread.
    counting(DatabaseSync.prototype, 'exec');
    counting(StatementSync.prototype, 'all');
    return sqlite(address.path, { synchronous: 'normal' });
  }
  counting(pg.Client.prototype, 'query');
  const { url: connectionString, schema } = address;
  const pool = new pg.Pool({ connectionString, max: 3, allowExitOnIdle: true });
  return postgres({ pool, schema });
}

const provider = localKeys({ keys: [order.key] });
const store = encrypted(opened(order.address), {
  keys: {
    ...provider,
    wrap: (tenant, key) => {
      count();
      return provider.wrap(tenant, key);
    },
  },
});
await store.encryptExisting();
await store.close();
process.stdout.write(String(statements));
