import { blobAddress } from '../../ledger/blobs/blob-address.ts';
import { BlobMissingError } from '../../ledger/errors.ts';
import { newAddressKey } from '../address-key.ts';

interface StoredBlob {
  readonly bytes: Uint8Array;
  /** Time of the last put, in epoch milliseconds. */
  readonly putAt: number;
}

/** The blobs of one tenant and app in memory. */
export class MemoryBlobs {
  readonly #scope: { readonly tenant: string; readonly app: string };
  readonly #blobs = new Map<string, StoredBlob>();
  /** The secret that addresses are made with. */
  readonly key: Uint8Array = newAddressKey();

  constructor(scope: { readonly tenant: string; readonly app: string }) {
    this.#scope = scope;
  }

  put(
    bytes: Uint8Array,
    now: number,
    address: string = blobAddress(this.#scope, bytes, this.key),
  ): string {
    this.#blobs.set(address, {
      bytes: this.#blobs.get(address)?.bytes ?? bytes.slice(),
      putAt: now,
    });
    return address;
  }

  /** @throws BlobMissingError */
  get(address: string): Uint8Array {
    const blob = this.#blobs.get(address);
    if (blob === undefined) throw new BlobMissingError({ address });
    return blob.bytes;
  }

  /** Removes blobs of a list that are not in use. */
  remove(addresses: Iterable<string>, used: ReadonlySet<string>): void {
    for (const address of addresses) if (!used.has(address)) this.#blobs.delete(address);
  }

  /** Removes blobs that are not in use and were put last before `before`. */
  sweep(used: ReadonlySet<string>, before: number): number {
    let removed = 0;
    for (const [address, { putAt }] of this.#blobs) {
      if (putAt < before && !used.has(address) && this.#blobs.delete(address)) removed += 1;
    }
    return removed;
  }
}

/** Addresses of the blobs that ledgers refer to. */
export function blobsOf(
  ledgers: Iterable<{ blobsInUse(): Iterable<string> }>,
): ReadonlySet<string> {
  const used = new Set<string>();
  for (const ledger of ledgers) for (const address of ledger.blobsInUse()) used.add(address);
  return used;
}
