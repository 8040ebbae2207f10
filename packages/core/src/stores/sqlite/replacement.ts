import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SessionBusyError } from '../../ledger/errors.ts';
import type { ReplaceReceipt } from '../../ledger/port.ts';
import { isOwnerGone } from '../owner.ts';
import { TurnChanges } from '../turns/turn-changes.ts';
import type { WriteOperations } from './protocol.ts';
import type { LedgerRow } from './rows/ledger-rows.ts';
import type { FileTables } from './rows/tables-of-file.ts';

/** Replacement of the rows that follow from a ledger and its inbox. */
export class Replacement {
  readonly #tables: FileTables;
  readonly #turns: TurnChanges;
  readonly #fence: StatementSync;
  readonly #summarise: StatementSync;

  constructor(database: DatabaseSync, tables: FileTables) {
    this.#tables = tables;
    this.#turns = new TurnChanges(tables.turns);
    this.#fence = database.prepare(
      'update ledgers set epoch = epoch + 1, owner = null, lease_ms = null, lease_until = null ' +
        'where id = ?',
    );
    this.#summarise = database.prepare(
      'update ledgers set status = ?, title = ?, runnable = ?, user = ? where id = ?',
    );
  }

  /** @throws SessionNotFoundError, SessionBusyError */
  replace(request: WriteOperations['replaceRows']['request']): ReplaceReceipt {
    const { app, expected, now, session, tenant } = request;
    const { ledgers, listedRows, requests } = this.#tables;
    const ledger = ledgers.get(request);
    refuseWhileHeld(ledger, session, '', now);
    const isExpected =
      ledger.seq === expected.seq &&
      ledger.epoch === expected.epoch &&
      ledger.inbox_seq === expected.inboxSeq;
    if (!isExpected) return { replaced: false, now };
    if (ledger.owner !== null) this.#fence.run(ledger.id);
    const { listed, summary, turn } = request;
    if (summary !== undefined) {
      const { runnable = null, status, title = null, user = null } = summary;
      this.#summarise.run(status, title, runnable, user, ledger.id);
    }
    if (request.requests !== undefined) requests.replace(request, ledger.id, request.requests);
    if (listed !== undefined) listedRows.replace(request, ledger.id, listed);
    if (turn !== undefined)
      this.#turns.replace({ ledger: ledger.id, tenant, app, session }, turn, now);
    return { replaced: true, now };
  }
}

/** @throws SessionBusyError while another owner's lease is live */
export function refuseWhileHeld(
  ledger: LedgerRow,
  session: string,
  owner: string,
  now: number,
): void {
  const { owner: holder, lease_until: until } = ledger;
  if (holder === null || until === null || holder === owner || until <= now || isOwnerGone(holder))
    return;
  throw new SessionBusyError({ session, owner: holder, until });
}
