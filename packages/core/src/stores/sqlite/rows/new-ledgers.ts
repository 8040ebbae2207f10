import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ScopeAddress, SessionAddress } from '../protocol.ts';
import type { LedgerRow } from './ledger-rows.ts';

/** Parts of a fork's row. */
interface ForkOrigin extends Pick<LedgerRow, 'status' | 'title' | 'runnable' | 'user'> {
  /** Number of the ledger that holds the shared events up to `base`. */
  readonly parent: number;
  readonly base: number;
  readonly seq: number;
  readonly updatedAt: number;
}

/** A ledger that was just made. */
export interface NewLedger {
  readonly id: number;
  readonly epoch: number;
}

/** Maker of the rows of ledgers. */
export class NewLedgers {
  readonly #insert: StatementSync;
  readonly #firstEpoch: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(`insert into ledgers
      (tenant, app, session, parent, base, seq, epoch, inbox_seq, created_at, updated_at, status,
        title, runnable, user, opened)
      values (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?)`);
    // No new ledger begins under a lower epoch. So the writer of a deleted ledger finds none that
    // looks like its own.
    this.#firstEpoch = database.prepare(
      'select epoch from first_epochs where tenant = ? and app = ?',
    );
  }

  /** @param opened true when a post makes it */
  make({ tenant, app, session }: SessionAddress, now: number, opened: boolean): NewLedger {
    const epoch = this.#findFirstEpoch({ tenant, app });
    const made = this.#insert.run(
      ...[tenant, app, session, null, 0, 0, epoch, now, now, 'active', null, null, null],
      Number(opened),
    );
    return { id: Number(made.lastInsertRowid), epoch };
  }

  fork({ tenant, app, session }: SessionAddress, now: number, from: ForkOrigin): NewLedger {
    const { parent, base, seq, updatedAt, status, title, runnable, user } = from;
    const epoch = this.#findFirstEpoch({ tenant, app });
    const made = this.#insert.run(
      ...[tenant, app, session, parent, base, seq, epoch, now, updatedAt],
      ...[status, title, runnable, user, 0],
    );
    return { id: Number(made.lastInsertRowid), epoch };
  }

  #findFirstEpoch({ tenant, app }: ScopeAddress): number {
    return (this.#firstEpoch.get(tenant, app)?.['epoch'] as number | undefined) ?? 0;
  }
}
