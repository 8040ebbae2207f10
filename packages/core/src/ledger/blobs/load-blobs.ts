import { isAdjutantError } from '../../base/error.ts';
import { deepFreeze, type JsonValue } from '../../base/json.ts';
import type { LedgerPorts } from '../ledger-ports.ts';
import { asLiteral, type BlobReference, findReferences, replaceReferences } from './blob.ts';

/** Large values that recorded values refer to. */
export interface LoadedBlobs {
  /** Values by address. */
  readonly blobs: ReadonlyMap<string, JsonValue>;
  /** References to these values. */
  readonly references: readonly BlobReference[];
  /** True when the recorded values hold escaped look-alikes, which readers must restore. */
  readonly isEscaped: boolean;
}

/**
 * Loads the large values that recorded values of a session refer to. Values that the store does not
 * hold for this session are left out. Older versions recorded look-alikes of references without
 * escaping them.
 */
export async function loadBlobs(
  values: Iterable<unknown>,
  { host, store }: Pick<LedgerPorts, 'host' | 'store'>,
  session: string,
): Promise<LoadedBlobs> {
  const found: BlobReference[] = [];
  let isEscaped = false;
  for (const value of values) {
    if (findReferences(value, (reference) => found.push(reference))) isEscaped = true;
    const turn = host.turns.pass();
    if (turn !== undefined) await turn;
  }
  const blobs = new Map<string, JsonValue>();
  for (const address of new Set(found.map(({ $blob }) => $blob))) {
    try {
      const json = new TextDecoder().decode(await store.getBlob(address, session));
      blobs.set(address, deepFreeze(JSON.parse(json)) as JsonValue);
    } catch (error) {
      if (!isAdjutantError(error, 'blob_missing')) throw error;
    }
  }
  return { blobs, references: found.filter(({ $blob }) => blobs.has($blob)), isEscaped };
}

/**
 * Returns a recorded value of a session as it was given, with stored values in the place of its
 * references.
 */
export async function withBlobs<Value>(
  value: Value,
  ports: Pick<LedgerPorts, 'host' | 'store'>,
  session: string,
): Promise<Value> {
  const { blobs } = await loadBlobs([value], ports, session);
  return replaceReferences(value, (reference) => {
    const found = blobs.get(reference.$blob);
    return found === undefined ? reference : asLiteral(found);
  }) as Value;
}
