import { type BlobReference, isAdjutantError, isBlobReference, type LedgerStore, type Runtime } from 'adjutant';

/** The stored ledgers of an app's tenant. */
export function ledgersOf({ store, tenant, app }: Pick<Runtime, 'store' | 'tenant' | 'app'>): LedgerStore {
  return store.for({ tenant, app });
}

/** A value with what the store holds in the place of its references. What it does not hold stays a reference. */
export async function withLargeValues<Value>(value: Value, ledgers: LedgerStore): Promise<Value> {
  const found = new Map<string, unknown>();
  for (const { $blob } of referencesIn(value)) if (!found.has($blob)) found.set($blob, await storedValue(ledgers, $blob));
  return found.size === 0 ? value : (replaced(value, found) as Value);
}

function* referencesIn(value: unknown): Generator<BlobReference> {
  if (typeof value !== 'object' || value === null) return;
  if (isBlobReference(value)) yield value;
  else for (const part of Object.values(value)) yield* referencesIn(part);
}

/** `undefined`: a tool or a model gave something that only looks like a reference. */
async function storedValue(ledgers: LedgerStore, address: string): Promise<unknown> {
  try {
    return JSON.parse(new TextDecoder().decode(await ledgers.getBlob(address)));
  } catch (error) {
    if (isAdjutantError(error, 'blob_missing')) return undefined;
    throw error;
  }
}

function replaced(value: unknown, found: ReadonlyMap<string, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isBlobReference(value)) return found.get(value.$blob) ?? value;
  if (Array.isArray(value)) return value.map((part) => replaced(part, found));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, replaced(part, found)]));
}
