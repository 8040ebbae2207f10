import { hash } from 'node:crypto';
import { canonicalJson } from './json.ts';

/** SHA-256 of a text or of bytes, as 64 hexadecimal digits. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

/**
 * A short name for a JSON value: the first 20 hexadecimal digits (80 bits) of the SHA-256 of its canonical JSON.
 * Equal values have equal names whatever the order of their keys.
 */
export function contentHash(value: unknown): string {
  return sha256(canonicalJson(value)).slice(0, 20);
}
