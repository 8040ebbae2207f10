import { newAddressKey } from '../address-key.ts';
import type { Database } from './database.ts';
import { toStorable } from './storable-text.ts';

/**
 * Returns the secret of a tenant and app, and makes it if there is none. Of several processes that
 * make one, the first counts.
 */
export async function findAddressKey(
  database: Database,
  { tenant, app }: { readonly tenant: string; readonly app: string },
): Promise<Uint8Array> {
  const scope = [toStorable(tenant), toStorable(app)];
  const found = await database.call(
    'select key from {s}.address_keys where tenant = $1 and app = $2',
    scope,
  );
  const key =
    found ??
    (await database.call(
      `insert into {s}.address_keys as known (tenant, app, key) values ($1, $2, $3)
        on conflict (tenant, app) do update set key = known.key returning key`,
      [...scope, Buffer.from(newAddressKey())],
    ));
  return key as Uint8Array;
}
