import { hmacSha256, sha256 } from '../../base/hash.ts';

/**
 * The address of a blob, as 64 hexadecimal digits, over tenant, app and the SHA-256 of the bytes:
 * an HMAC with the secret that the store keeps for the two, so that nobody finds an address who
 * knows a content; without one a SHA-256, as stores without a secret have it. Equal bytes of two
 * tenants or apps have different addresses.
 */
export function blobAddress(
  scope: { readonly tenant: string; readonly app: string },
  bytes: Uint8Array,
  key?: Uint8Array,
): string {
  const text = JSON.stringify([scope.tenant, scope.app, sha256(bytes)]);
  return key === undefined ? sha256(text) : hmacSha256(key, text);
}
