import { sha256 } from '../base/hash.ts';

/**
 * The address of a blob, as 64 hexadecimal digits: a SHA-256 over tenant, app and the SHA-256 of the bytes. Every store
 * uses it, so a writer knows the address before the blob is stored. Equal bytes of two tenants or apps have different addresses.
 */
export function blobAddress(scope: { readonly tenant: string; readonly app: string }, bytes: Uint8Array): string {
  return sha256(JSON.stringify([scope.tenant, scope.app, sha256(bytes)]));
}
