import { sha256 } from '../base/hash.ts';
import { type BlobReference, blobReference, blobThresholdBytes } from './blob.ts';
import type { EventDraft } from './event.ts';

/** A large value on its way to the blob store. */
export interface LargeValue {
  readonly address: string;
  readonly bytes: Uint8Array;
  readonly value: unknown;
}

/** About how long the JSON of a value is, counted no further than `limit`. */
function lengthUpTo(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 8;
  let length = 2;
  for (const key in value) {
    length += key.length + 4 + lengthUpTo((value as Record<string, unknown>)[key], limit - length);
    if (length > limit) return length;
  }
  return length;
}

/** Gives the address under which the store will keep these bytes. */
type AddressOf = (bytes: Uint8Array) => string;

const encoder = new TextEncoder();

function replaceLarge(value: unknown, found: LargeValue[], addressOf: AddressOf): unknown {
  if (lengthUpTo(value, blobThresholdBytes / 3) <= blobThresholdBytes / 3) return value;
  if (typeof value === 'object' && value !== null) {
    const parts: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value };
    let replaced = false;
    for (const [key, part] of Object.entries(parts)) {
      const smaller = replaceLarge(part, found, addressOf);
      if (smaller === part) continue;
      (parts as Record<string, unknown>)[key] = smaller;
      replaced = true;
    }
    if (replaced && lengthUpTo(parts, blobThresholdBytes) <= blobThresholdBytes) return parts;
  }
  const json = JSON.stringify(value);
  const bytes = encoder.encode(json);
  if (bytes.length <= blobThresholdBytes) return value;
  const address = addressOf(bytes);
  found.push({ address, bytes, value });
  return blobReference(address, sha256(bytes), bytes.length, json) satisfies BlobReference;
}

/**
 * Takes values of more than 64 KB of JSON out of an event: each is replaced by a reference.
 * A large value inside an object is taken out alone if that makes the rest small enough.
 */
export function extractLargeValues(
  draft: EventDraft,
  addressOf: AddressOf,
): { readonly draft: EventDraft; readonly large: readonly LargeValue[] } {
  if (lengthUpTo(draft, blobThresholdBytes / 3) <= blobThresholdBytes / 3) return { draft, large: [] };
  const large: LargeValue[] = [];
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(draft)) fields[key] = replaceLarge(value, large, addressOf);
  return { draft: fields as unknown as EventDraft, large };
}
