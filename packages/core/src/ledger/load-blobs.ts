import { isAdjutantError } from '../base/error.ts';
import { deepFreeze, type JsonValue } from '../base/json.ts';
import { systemTurns } from '../base/turns.ts';
import { findReferences, replaceReferences } from './blob.ts';
import type { LedgerStore } from './port.ts';

/** The values of references, by address. What the store does not hold is left out: a tool or a model may give something that only looks like a reference. */
export async function loadBlobs(values: Iterable<unknown>, store: LedgerStore): Promise<ReadonlyMap<string, JsonValue>> {
  const addresses = new Set<string>();
  for (const value of values) {
    findReferences(value, ({ $blob }) => addresses.add($blob));
    const turn = systemTurns.pass();
    if (turn !== undefined) await turn;
  }
  const blobs = new Map<string, JsonValue>();
  for (const address of addresses) {
    try {
      const json = new TextDecoder().decode(await store.getBlob(address));
      blobs.set(address, deepFreeze(JSON.parse(json)) as JsonValue);
    } catch (error) {
      if (!isAdjutantError(error, 'blob_missing')) throw error;
    }
  }
  return blobs;
}

/** A value with what the store holds in the place of its references. */
export async function withBlobs<Value>(value: Value, store: LedgerStore): Promise<Value> {
  const blobs = await loadBlobs([value], store);
  return blobs.size === 0 ? value : (replaceReferences(value, (reference) => blobs.get(reference.$blob) ?? reference) as Value);
}
