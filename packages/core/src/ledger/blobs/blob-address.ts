import { hmacSha256, sha256 } from '../../base/hash.ts';

/**
 * The address of a blob, as 64 hexadecimal digits, from tenant, app and the SHA-256 of the bytes.
 * With the secret that the store keeps for tenant and app, it is an HMAC. A process that knows a
 * content can then not find its address. Stores without a secret use a SHA-256. Equal bytes of two
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
