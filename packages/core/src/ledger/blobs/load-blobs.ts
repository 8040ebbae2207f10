import { isAdjutantError } from '../../base/error.ts';
import { deepFreeze, type JsonValue } from '../../base/json.ts';
import { systemTurns } from '../../base/turns.ts';
import type { LedgerStore } from '../port.ts';
import { asLiteral, type BlobReference, findReferences, replaceReferences } from './blob.ts';

/** What recorded values refer to. */
export interface LoadedBlobs {
  /** By address. */
  readonly blobs: ReadonlyMap<string, JsonValue>;
  /** The references to these. */
  readonly references: readonly BlobReference[];
  /** Whether the values have something else that must be turned back when they are read. */
  readonly isEscaped: boolean;
}

/**
 * What recorded values of a session refer to. What the store does not hold, or holds for others
 * only, is left out: older versions have recorded what models and tools gave also where it looks
 * like a reference.
 */
export async function loadBlobs(
  values: Iterable<unknown>,
  store: LedgerStore,
  session: string,
): Promise<LoadedBlobs> {
  const found: BlobReference[] = [];
  let isEscaped = false;
  for (const value of values) {
    if (findReferences(value, (reference) => found.push(reference))) isEscaped = true;
    const turn = systemTurns.pass();
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
 * A recorded value of a session as it was given: with what the store holds in the place of its
 * references.
 */
export async function withBlobs<Value>(
  value: Value,
  store: LedgerStore,
  session: string,
): Promise<Value> {
  const { blobs } = await loadBlobs([value], store, session);
  return replaceReferences(value, (reference) => {
    const found = blobs.get(reference.$blob);
    return found === undefined ? reference : asLiteral(found);
  }) as Value;
}
