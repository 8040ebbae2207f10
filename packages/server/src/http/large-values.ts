import { isAdjutantError, type Runtime } from 'adjutant';
import {
  type BlobReference,
  findReferences,
  type LedgerStore,
  replaceReferences,
} from 'adjutant/store';

/**
 * The session whose recorded values are read: what they refer to is read on its behalf, and nothing
 * else.
 */
export interface RecordedIn {
  readonly ledgers: LedgerStore;
  readonly session: string;
}

/** The stored ledgers of an app's tenant. */
export function ledgersOf({
  store,
  tenant,
  app,
}: Pick<Runtime, 'store' | 'tenant' | 'app'>): LedgerStore {
  return store.for({ tenant, app });
}

/**
 * Bytes of JSON that stand in the place of references. An event may refer to one value many times.
 */
const mostBytes = 33_554_432;

/**
 * A recorded value as it was given: with what the store holds in the place of its references. What
 * it does not hold, and what would be too much, stays a reference.
 */
export async function withLargeValues<Value>(value: Value, from: RecordedIn): Promise<Value> {
  return (await enlarged(value, from)).value;
}

/**
 * Values with what the store holds in the place of their references, until they are too much to be
 * told at once.
 */
export async function* largePage<Value>(
  values: AsyncIterable<Value>,
  from: RecordedIn,
): AsyncGenerator<Value, void, undefined> {
  let all = 0;
  for await (const given of values) {
    const { value, bytes } = await enlarged(given, from);
    if (all > 0 && all + bytes > mostBytes) return;
    all += bytes;
    yield value;
  }
}

interface Stored {
  readonly value: unknown;
  readonly bytes: number;
}

async function enlarged<Value>(
  value: Value,
  from: RecordedIn,
): Promise<{ readonly value: Value; readonly bytes: number }> {
  const addresses = new Set<string>();
  const isEscaped = findReferences(value, ({ $blob }) => addresses.add($blob));
  if (addresses.size === 0 && !isEscaped) return { value, bytes: 0 };
  const found = new Map<string, Stored>();
  let bytes = 0;
  for (const address of addresses) {
    if (bytes > mostBytes) break;
    const large = await stored(from, address);
    if (large !== undefined) found.set(address, large);
    bytes += large?.bytes ?? 0;
  }
  let told = 0;
  const put = (reference: BlobReference): unknown => {
    const large = found.get(reference.$blob);
    if (large === undefined || (told > 0 && told + large.bytes > mostBytes)) return reference;
    told += large.bytes;
    return large.value;
  };
  return { value: replaceReferences(value, put) as Value, bytes: told };
}

/** `undefined`: it is lost, or an older version has recorded what only looks like a reference. */
async function stored(
  { ledgers, session }: RecordedIn,
  address: string,
): Promise<Stored | undefined> {
  try {
    const bytes = await ledgers.getBlob(address, session);
    return { value: JSON.parse(new TextDecoder().decode(bytes)), bytes: bytes.length };
  } catch (error) {
    if (isAdjutantError(error, 'blob_missing')) return undefined;
    throw error;
  }
}
