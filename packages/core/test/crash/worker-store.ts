import type { Store } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';

/** Where a process of the tests finds its store: a file, or a schema of the server. */
export type StoreAddress =
  | { readonly file: string }
  | { readonly url: string; readonly schema: string };

/** A connection of this process to a store that others use too. */
export function connect(address: StoreAddress): Store {
  // Durability is proved by the end of processes, not of machines.
  if ('file' in address) return sqlite(address.file, { synchronous: 'normal' });
  return postgres(address.url, { schema: address.schema });
}
