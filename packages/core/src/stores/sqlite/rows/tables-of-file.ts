import type { DatabaseSync } from 'node:sqlite';
import { LedgerRows } from './ledger-rows.ts';
import { ListedRows } from './listed-rows.ts';
import { OutboxRows } from './outbox-rows.ts';
import { RequestRows } from './request-rows.ts';
import { SnapshotRows } from './snapshot-rows.ts';
import { TurnRows } from './turn-rows.ts';

/** The tables that operations which read and those which write share. */
export interface FileTables {
  readonly ledgers: LedgerRows;
  readonly requests: RequestRows;
  readonly snapshots: SnapshotRows;
  readonly turns: TurnRows;
  readonly outbox: OutboxRows;
  readonly listedRows: ListedRows;
}

export function tablesOf(database: DatabaseSync): FileTables {
  const ledgers = new LedgerRows(database);
  return {
    ledgers,
    requests: new RequestRows(database, ledgers),
    snapshots: new SnapshotRows(database, ledgers),
    turns: new TurnRows(database),
    outbox: new OutboxRows(database),
    listedRows: new ListedRows(database),
  };
}
