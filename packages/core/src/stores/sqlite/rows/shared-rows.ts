import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SharedWrite } from '../../../ledger/port.ts';
import { checkSharedWrites } from '../../batch.ts';
import type { AppendRequest, ScopeAddress } from '../protocol.ts';

/** The rows of shared state. */
export class SharedRows {
  readonly #sharedVersion: StatementSync;
  readonly #writeShared: StatementSync;

  constructor(database: DatabaseSync) {
    this.#sharedVersion = database.prepare(
      'select version, value is null as deleted from shared where tenant = ? and app = ? ' +
        'and scope = ? and scope_id = ? and key = ?',
    );
    this.#writeShared =
      database.prepare(`insert into shared (tenant, app, scope, scope_id, key, value, version)
        values (?, ?, ?, ?, ?, ?, 1)
      on conflict (tenant, app, scope, scope_id, key) do update set value = excluded.value,
        version = version + 1`);
  }

  /** @throws StateConflictError when another writer has changed a value since */
  check({ tenant, app, shared }: AppendRequest): void {
    if (shared === undefined) return;
    checkSharedWrites(shared, ({ scope, scopeId, key }) => {
      const stored = this.#sharedVersion.get(tenant, app, scope, scopeId, key);
      if (stored === undefined) return undefined;
      // The value itself does not matter here, only its existence.
      return {
        value: stored['deleted'] === 1 ? undefined : null,
        version: stored['version'] as number,
      };
    });
  }

  write({ tenant, app }: ScopeAddress, writes: readonly SharedWrite[]): void {
    for (const { scope, scopeId, key, value } of writes) {
      const text = value === undefined ? null : JSON.stringify(value);
      this.#writeShared.run(tenant, app, scope, scopeId, key, text);
    }
  }
}
