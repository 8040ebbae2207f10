import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SessionNotFoundError } from '../../../ledger/errors.ts';
import type { SessionSummary } from '../../../ledger/port.ts';
import type { SessionAddress } from '../protocol.ts';

/**
 * A row of `ledgers` that has a session. A row without one was deleted, and is only found by its
 * number. Events up to `base` are those of `parent`.
 */
export interface LedgerRow {
  readonly id: number;
  readonly parent: number | null;
  readonly base: number;
  readonly seq: number;
  readonly epoch: number;
  readonly inbox_seq: number;
  readonly owner: string | null;
  readonly lease_ms: number | null;
  readonly lease_until: number | null;
  readonly updated_at: number;
  readonly status: SessionSummary['status'];
  readonly title: string | null;
  readonly runnable: string | null;
  readonly user: string | null;
  /** 1 when the session has a turn. */
  readonly has_turn: number;
}

const columns =
  'id, parent, base, seq, epoch, inbox_seq, owner, lease_ms, lease_until, updated_at, ' +
  'status, title, runnable, user, has_turn';

/** Finds ledgers by their address, and the ledger of a family of forks that holds an event. */
export class LedgerRows {
  readonly #byAddress: StatementSync;
  readonly #byId: StatementSync;

  constructor(database: DatabaseSync) {
    this.#byAddress = database.prepare(
      `select ${columns} from ledgers where tenant = ? and app = ? and session = ?`,
    );
    this.#byId = database.prepare(`select ${columns} from ledgers where id = ?`);
  }

  find({ tenant, app, session }: SessionAddress): LedgerRow | undefined {
    return this.#byAddress.get(tenant, app, session) as LedgerRow | undefined;
  }

  /**
   * @param ledger number that the ledger must have, even when another one has the address now
   * @throws SessionNotFoundError
   */
  get(address: SessionAddress, ledger?: number): LedgerRow {
    const row = this.find(address);
    if (row === undefined || (ledger !== undefined && ledger !== row.id)) {
      throw new SessionNotFoundError({ session: address.session, app: address.app });
    }
    return row;
  }

  /** Returns the ledger whose own events include `seq`: this one, or the nearest above it. */
  holderOf(ledger: LedgerRow, seq: number): LedgerRow {
    let holder = ledger;
    // A fork that shares nothing keeps no parent alive.
    while (holder.parent !== null && holder.base > 0 && seq <= holder.base)
      holder = this.#parent(holder.parent);
    return holder;
  }

  /**
   * Returns the `seq` of the last event that `ledger` takes from `holder`, its ancestor or itself.
   */
  lastFrom(ledger: LedgerRow, holder: LedgerRow): number {
    let last = ledger.seq;
    let current = ledger;
    while (current.id !== holder.id && current.parent !== null) {
      last = Math.min(last, current.base);
      current = this.#parent(current.parent);
    }
    return last;
  }

  /** A parent stays, deleted or not, as long as a fork shares its events. */
  #parent(id: number): LedgerRow {
    const row = this.#byId.get(id) as LedgerRow | undefined;
    if (row === undefined) throw new RangeError(`Ledger ${id}, which a fork shares, is missing.`);
    return row;
  }
}
