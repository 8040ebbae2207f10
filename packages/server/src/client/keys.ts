import { Listing } from './listing.ts';
import { type CallOptions, pathOf, type Transport, type WriteOptions } from './transport.ts';
import type {
  AuditEntry,
  AuditQuery,
  IssuedServerKey,
  KeyRotation,
  NewKey,
  ServerKey,
} from './types.ts';

/** API keys of the tenant, for callers with the permission `manage`. Rejects as `Sessions`. */
export class Keys {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The keys without their secrets, newest first, also those that are over. */
  async list(options: CallOptions = {}): Promise<readonly ServerKey[]> {
    const { keys } = await this.#transport.json<{ keys: readonly ServerKey[] }>({
      method: 'GET',
      path: pathOf('keys'),
      ...options,
    });
    return keys;
  }

  /**
   * Makes a key. Its credential is in this answer and in no other. A lost answer is lost for good:
   * the key exists then, and can be rotated.
   */
  create(key: NewKey, options: WriteOptions = {}): Promise<IssuedServerKey> {
    return this.#transport.json({ method: 'POST', path: pathOf('keys'), body: key, ...options });
  }

  /** Gives a key a new secret; the one before is accepted for a while. */
  rotate(key: string, { graceMs, expiresInMs, ...options }: KeyRotation & WriteOptions = {}) {
    return this.#transport.json<IssuedServerKey>({
      method: 'POST',
      path: pathOf('keys', key, 'rotate'),
      body: { graceMs, expiresInMs },
      ...options,
    });
  }

  /** Ends a key for good, in all processes, with their next request. */
  revoke(key: string, options: WriteOptions = {}): Promise<ServerKey> {
    return this.#transport.json({ method: 'DELETE', path: pathOf('keys', key), ...options });
  }
}

/** The audit log of the tenant, for callers with the permission `audit`. */
export class Audit {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Entries of acts and refusals, newest first. A page can be empty and have a cursor. */
  list(query: AuditQuery = {}, options: CallOptions = {}): Listing<AuditEntry, 'entries'> {
    return new Listing('entries', (cursor) =>
      this.#transport.json({
        method: 'GET',
        path: pathOf('audit'),
        query: { ...query, cursor },
        ...options,
      }),
    );
  }
}
