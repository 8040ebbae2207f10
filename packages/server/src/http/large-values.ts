import { type BlobReference, isAdjutantError, isBlobReference, type LedgerStore, type Runtime } from 'adjutant';

/** The stored ledgers of an app's tenant. */
export function ledgersOf({ store, tenant, app }: Pick<Runtime, 'store' | 'tenant' | 'app'>): LedgerStore {
  return store.for({ tenant, app });
}

/** Bytes of JSON that stand in the place of references. Whoever sends something that looks like a reference can send it many times. */
const mostBytes = 33_554_432;

/** A value with what the store holds in the place of its references. What it does not hold, and what would be too much, stays a reference. */
export async function withLargeValues<Value>(value: Value, ledgers: LedgerStore): Promise<Value> {
  return (await enlarged(value, ledgers)).value;
}

/** Values with what the store holds in the place of their references, until they are too much to be told at once. */
export async function* largePage<Value>(values: AsyncIterable<Value>, ledgers: LedgerStore): AsyncGenerator<Value, void, undefined> {
  let all = 0;
  for await (const given of values) {
    const { value, bytes } = await enlarged(given, ledgers);
    if (all > 0 && all + bytes > mostBytes) return;
    all += bytes;
    yield value;
  }
}

interface Stored {
  readonly value: unknown;
  readonly bytes: number;
}

async function enlarged<Value>(value: Value, ledgers: LedgerStore): Promise<{ readonly value: Value; readonly bytes: number }> {
  const found = new Map<string, Stored | undefined>();
  let bytes = 0;
  for (const { $blob } of referencesIn(value)) {
    if (bytes > mostBytes) break;
    if (!found.has($blob)) found.set($blob, await stored(ledgers, $blob));
    bytes += found.get($blob)?.bytes ?? 0;
  }
  if (found.size === 0) return { value, bytes };
  let told = 0;
  const put = (reference: BlobReference): unknown => {
    const large = found.get(reference.$blob);
    if (large === undefined || (told > 0 && told + large.bytes > mostBytes)) return reference;
    told += large.bytes;
    return large.value;
  };
  return { value: replaced(value, put) as Value, bytes: told };
}

function* referencesIn(value: unknown): Generator<BlobReference> {
  if (typeof value !== 'object' || value === null) return;
  if (isBlobReference(value)) yield value;
  else for (const part of Object.values(value)) yield* referencesIn(part);
}

/** `undefined`: a tool or a model gave something that only looks like a reference. */
async function stored(ledgers: LedgerStore, address: string): Promise<Stored | undefined> {
  try {
    const bytes = await ledgers.getBlob(address);
    return { value: JSON.parse(new TextDecoder().decode(bytes)), bytes: bytes.length };
  } catch (error) {
    if (isAdjutantError(error, 'blob_missing')) return undefined;
    throw error;
  }
}

function replaced(value: unknown, put: (reference: BlobReference) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isBlobReference(value)) return put(value);
  if (Array.isArray(value)) return value.map((part) => replaced(part, put));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, replaced(part, put)]));
}
