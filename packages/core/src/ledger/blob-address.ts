import { createHash } from 'node:crypto';

/**
 * The address of a blob: SHA-256 over tenant, app and bytes, as 64 hexadecimal digits. Every store uses it, so a writer
 * knows the address before the blob is stored. Equal bytes of two tenants or apps have different addresses.
 */
export function blobAddress(scope: { readonly tenant: string; readonly app: string }, bytes: Uint8Array): string {
  return createHash('sha256')
    .update(`${JSON.stringify([scope.tenant, scope.app])}\n`)
    .update(bytes)
    .digest('hex');
}
