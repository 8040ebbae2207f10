import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { JsonValue } from '../../../base/json.ts';
import type { FoldSnapshot } from '../../../ledger/port.ts';
import { checkSnapshot } from '../../batch.ts';
import type { ReadOperations, WriteOperations } from '../protocol.ts';
import type { LedgerRows } from './ledger-rows.ts';

/** The table of snapshots of folds. */
export class SnapshotRows {
  readonly #ledgers: LedgerRows;
  readonly #put: StatementSync;
  readonly #last: StatementSync;

  constructor(database: DatabaseSync, ledgers: LedgerRows) {
    this.#ledgers = ledgers;
    this.#put = database.prepare(
      'insert or replace into snapshots (ledger, key, seq, value) values (?, ?, ?, ?)',
    );
    // Goes up the ancestors, each with the part of it that is shared.
    this.#last = database.prepare(`with recursive line (id, parent, base, last) as (
        select id, parent, base, ?2 from ledgers where id = ?1
        union all
        select ledgers.id, ledgers.parent, ledgers.base, min(line.last, line.base) from ledgers
          join line on ledgers.id = line.parent
      )
      select snapshots.seq, snapshots.value from line join snapshots on snapshots.ledger = line.id
      where snapshots.key = ?3 and snapshots.seq <= line.last order by snapshots.seq desc limit 1`);
  }

  /** @throws SessionNotFoundError, RangeError */
  put(request: WriteOperations['putSnapshot']['request']): null {
    const ledger = this.#ledgers.get(request);
    checkSnapshot(request.session, request.seq, ledger.seq);
    this.#put.run(ledger.id, request.key, request.seq, request.text);
    return null;
  }

  get(request: ReadOperations['getSnapshot']['request']): FoldSnapshot | undefined {
    const ledger = this.#ledgers.find(request);
    const row = ledger && this.#last.get(ledger.id, request.upTo, request.key);
    return (
      row && {
        key: request.key,
        seq: row['seq'] as number,
        value: JSON.parse(row['value'] as string) as JsonValue,
      }
    );
  }
}
