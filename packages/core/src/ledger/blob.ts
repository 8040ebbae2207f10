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
  return typeof value === 'object' && value !== null && typeof (value as { $blob?: unknown }).$blob === 'string';
}
