/** Values whose JSON is longer than this go to the blob store. */
export const blobThresholdBytes = 64 * 1024;
const previewLength = 500;

/** What an event holds in the place of a large value. */
export interface BlobReference {
  readonly $blob: string;
  /** SHA-256 of the value's JSON text. */
  readonly hash: string;
  /** Bytes of the value's JSON text in UTF-8. */
  readonly size: number;
  readonly preview: string;
}

export function blobReference(address: string, hash: string, size: number, json: string): BlobReference {
  return { $blob: address, hash, size, preview: json.slice(0, previewLength) };
}

export function isBlobReference(value: unknown): value is BlobReference {
  if (typeof value !== 'object' || value === null || !('$blob' in value)) return false;
  const { $blob, hash, size, preview } = value as Partial<Record<keyof BlobReference, unknown>>;
  return typeof $blob === 'string' && typeof hash === 'string' && typeof size === 'number' && typeof preview === 'string';
}

/** The references in a JSON value are handed to `found`. */
export function findReferences(value: unknown, found: (reference: BlobReference) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (isBlobReference(value)) found(value);
  else for (const part of Object.values(value)) findReferences(part, found);
}

/** A JSON value with something else in the place of its references. Parts without references stay the same objects. */
export function replaceReferences(value: unknown, replacement: (reference: BlobReference) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isBlobReference(value)) return replacement(value);
  let copy: Record<string, unknown> | unknown[] | undefined;
  for (const [key, part] of Object.entries(value)) {
    const replaced = replaceReferences(part, replacement);
    if (replaced === part) continue;
    copy ??= Array.isArray(value) ? [...value] : { ...value };
    (copy as Record<string, unknown>)[key] = replaced;
  }
  return copy === undefined ? value : Object.freeze(copy);
}
