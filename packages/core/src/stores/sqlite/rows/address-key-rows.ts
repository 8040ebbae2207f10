import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ReadOperations, ScopeAddress, WriteOperations } from '../protocol.ts';

/**
 * The step of the schema that makes the table for the secrets of blob addresses. Existing blobs
 * keep their addresses.
 */
export const addressKeysStep = `
  create table address_keys (
    tenant text not null,
    app text not null,
    key blob not null,
    primary key (tenant, app)
  ) strict, without rowid;
  `;

export class AddressKeyRows {
  readonly #find: StatementSync;
  readonly #keep: StatementSync;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare('select key from address_keys where tenant = ? and app = ?');
    this.#keep = database.prepare(
      'insert or ignore into address_keys (tenant, app, key) values (?, ?, ?)',
    );
  }

  find({ tenant, app }: ScopeAddress): ReadOperations['addressKey']['reply'] {
    return this.#find.get(tenant, app)?.['key'] as Uint8Array | undefined;
  }

  /** Keeps a key unless there is one; returns the one that is kept. */
  keep(request: WriteOperations['keepAddressKey']['request']): Uint8Array {
    this.#keep.run(request.tenant, request.app, request.key);
    return this.find(request) as Uint8Array;
  }
}
