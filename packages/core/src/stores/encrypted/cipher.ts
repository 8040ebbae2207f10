import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
} from 'node:crypto';
import { unguessableBytes } from '../../base/random.ts';

/** A key for sealing. Node works several times faster with a `KeyObject`. */
export type SealKey = KeyObject | Uint8Array;

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
export const keyBytes = 32;

/**
 * Seals bytes with a fresh random nonce: nonce, ciphertext and tag in a row.
 * @param place the place that the sealed bytes belong to; they cannot be opened anywhere else
 */
export function seal(key: SealKey, place: string, content: string | Uint8Array): Uint8Array {
  const nonce = unguessableBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(place));
  const sealed =
    typeof content === 'string' ? cipher.update(content, 'utf8') : cipher.update(content);
  return Buffer.concat([nonce, sealed, cipher.final(), cipher.getAuthTag()]);
}

/**
 * Returns the bytes that `seal` was given, or `undefined` when the bytes, the place or the key
 * differ.
 */
export function unseal(key: SealKey, place: string, sealed: Uint8Array): Buffer | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(place));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  try {
    const content = decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes));
    return Buffer.concat([content, decipher.final()]);
  } catch {
    return undefined;
  }
}

/** Seals a text as `seal` does, and returns base64. */
export function sealText(key: SealKey, place: string, text: string): string {
  return Buffer.from(seal(key, place, text)).toString('base64');
}

export function unsealText(key: SealKey, place: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64');
  // Base64 has several spellings of the same bytes, and a changed one is a change.
  if (bytes.toString('base64') !== sealed) return undefined;
  return unseal(key, place, bytes)?.toString('utf8');
}

/**
 * Derives a key for one purpose. Neither the original key nor those for other purposes can be found
 * from it.
 */
export function derivedKey(key: SealKey, purpose: string): Uint8Array {
  return createHmac('sha256', key).update(purpose).digest();
}

/** Prepares a key for sealing much content. */
export function takenOver(key: Uint8Array): SealKey {
  return createSecretKey(key);
}

export function authenticationCode(key: SealKey, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
