import { unguessableBytes } from '../base/random.ts';

interface Scope {
  readonly tenant: string;
  readonly app: string;
}

/** Makes the bytes of a secret that addresses of blobs are made with. */
export function newAddressKey(): Uint8Array {
  return unguessableBytes(32);
}

/**
 * The secrets of the tenants and apps of one store. Each is read once, because it never changes.
 */
export class AddressKeys {
  readonly #find: (scope: Scope) => Promise<Uint8Array>;
  readonly #found = new Map<string, Promise<Uint8Array>>();

  constructor(find: (scope: Scope) => Promise<Uint8Array>) {
    this.#find = find;
  }

  of(scope: Scope): Promise<Uint8Array> {
    const name = JSON.stringify([scope.tenant, scope.app]);
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    const finding = this.#find(scope);
    this.#found.set(name, finding);
    finding.catch(() => this.#found.delete(name));
    return finding;
  }
}
