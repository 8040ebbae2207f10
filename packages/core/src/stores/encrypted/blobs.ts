import { isAdjutantError } from '../../base/error.ts';
import { blobAddress } from '../../ledger/blobs/blob-address.ts';
import { BlobMissingError } from '../../ledger/errors.ts';

import { appSealsOf, type LedgerParts, orderNameOf } from './ledger-parts.ts';

/** The blobs of one tenant and app, sealed and kept under names that hide their addresses. */
export class SealedBlobs {
  readonly #parts: LedgerParts;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
  }

  async addressKey(): Promise<Uint8Array> {
    return (await appSealsOf(this.#parts)).addressKey();
  }

  async put(bytes: Uint8Array, known: string | undefined): Promise<string> {
    // A copy: the caller may change its bytes while the key is looked for.
    const copy = bytes.slice();
    const address = known ?? blobAddress(this.#parts.scope, copy, await this.addressKey());
    const sealing = appSealsOf(this.#parts).then((seals) => ({
      name: seals.blobName(address),
      sealed: seals.sealBlob(address, copy),
    }));
    await this.#parts.order.inTurn(orderNameOf(this.#parts, address), sealing, ({ name, sealed }) =>
      this.#parts.inner.putBlob(sealed, name),
    );
    return address;
  }

  async get(address: string, session?: string): Promise<Uint8Array> {
    const seals = await appSealsOf(this.#parts);
    const name = seals.blobName(address);
    try {
      return seals.openBlob(address, await this.#parts.inner.getBlob(name, session));
    } catch (error) {
      throw asBlobMissing(error, new Map([[name, address]]));
    }
  }
}

/** Returns the error of the inner store, with the address of the blob in place of its name. */
export function asBlobMissing(error: unknown, addresses: ReadonlyMap<string, string>): unknown {
  if (!isAdjutantError(error, 'blob_missing')) return error;
  const address = addresses.get(String(error.data['address']));
  return address === undefined ? error : new BlobMissingError({ address });
}
