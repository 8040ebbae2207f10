import type { Store } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';

/** Opens the store at a place: the address of a PostgreSQL with a schema behind `#`, or a file. */
export function storeAt(place: string): Store {
  const [address = '', schema] = place.split('#');
  return schema === undefined ? sqlite(address) : postgres(address, { schema });
}
