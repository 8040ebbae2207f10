import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionAddress } from '../protocol.ts';

/** Ids of deleted sessions that a post had made: no post makes them again. */
export class TombstoneRows {
  readonly #add: StatementSync;
  readonly #find: StatementSync;

  constructor(database: DatabaseSync) {
    this.#add = database.prepare(`insert or ignore into tombstones (tenant, app, session)
      select tenant, app, session from ledgers
      where id = ? and opened = 1 and session is not null`);
    this.#find = database.prepare(
      'select 1 from tombstones where tenant = ? and app = ? and session = ?',
    );
  }

  /** Notes a ledger that is about to be deleted, if a post had made it. */
  add(ledger: number): void {
    this.#add.run(ledger);
  }

  has({ tenant, app, session }: SessionAddress): boolean {
    return this.#find.get(tenant, app, session) !== undefined;
  }
}
