import { canonicalJson } from './json.ts';

// Loaded with the first hash: it is a quarter of the memory that importing the package would take.
let crypto: typeof import('node:crypto') | undefined;

/** SHA-256 of a text or of bytes, as 64 hexadecimal digits. */
export function sha256(data: string | Uint8Array): string {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto.hash('sha256', data, 'hex');
}

/** HMAC-SHA-256 of a text under a key, as 64 hexadecimal digits. */
export function hmacSha256(key: Uint8Array, text: string): string {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto.createHmac('sha256', key).update(text).digest('hex');
}

/**
 * A short name for a JSON value: the first 20 hexadecimal digits (80 bits) of the SHA-256 of its
 * canonical JSON. Equal values have equal names whatever the order of their keys.
 */
export function contentHash(value: unknown): string {
  return sha256(canonicalJson(value)).slice(0, 20);
}
