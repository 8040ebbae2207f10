import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { TurnChanges } from '../turns/turn-changes.ts';
import type { WriteOperations } from './protocol.ts';
import type { BlobRows } from './rows/blob-rows.ts';
import { rowId } from './rows/rows-by-id.ts';
import type { FileTables } from './rows/tables-of-file.ts';
import type { TombstoneRows } from './rows/tombstone-rows.ts';

/** Most rows that one purge may remove: the lock must not be kept for long. */
const mostRowsPerPurge = 512;
const mostSnapshotsPerPurge = 16;
const ofLedger = `id > ${rowId('?1', '0')} and id < ${rowId('(?1 + 1)', '0')}`;

interface DeletionTables extends Pick<FileTables, 'ledgers' | 'listedRows' | 'turns'> {
  readonly blobs: BlobRows;
  readonly tombstones: TombstoneRows;
}

/**
 * Deletes sessions: hides them at once, and removes their rows bit by bit. A ledger whose events
 * forks share stays without a session until the last of them is gone.
 */
export class Deletion {
  readonly #database: DatabaseSync;
  readonly #tables: DeletionTables;
  readonly #changes: TurnChanges;
  readonly #family: StatementSync;
  readonly #hide: StatementSync;
  readonly #forgetRequests: StatementSync;
  readonly #raiseFirstEpoch: StatementSync;
  readonly #nextToPurge: StatementSync;
  readonly #lastShared: StatementSync;
  readonly #lastEvent: StatementSync;
  readonly #removeEvents: StatementSync;
  readonly #removals: readonly ((ledger: number, lastShared: number) => number | bigint)[];
  readonly #keep: StatementSync;
  readonly #remove: StatementSync;
  readonly #lookAgain: StatementSync;

  constructor(database: DatabaseSync, tables: DeletionTables) {
    const prepare = (sql: string): StatementSync => database.prepare(sql);
    this.#database = database;
    this.#tables = tables;
    this.#changes = new TurnChanges(tables.turns);
    this.#family =
      prepare(`with recursive family (id) as (values (?) union select ledgers.id from ledgers
        join family on ledgers.parent = family.id)
      select id, epoch from ledgers where id in family and session is not null`);
    this.#hide =
      prepare(`update ledgers set session = null, owner = null, lease_ms = null, lease_until = null,
        wake_at = null,
      title = null, runnable = null, user = null, purge = 1 where id = ?`);
    this.#forgetRequests = prepare('delete from requests where ledger = ?');
    this.#raiseFirstEpoch = prepare(`insert into first_epochs (tenant, app, epoch) values (?, ?, ?)
      on conflict (tenant, app) do update set epoch = max(epoch, excluded.epoch)`);
    this.#nextToPurge = prepare(
      'select id, parent, base from ledgers where purge is not null order by id limit 1',
    );
    this.#lastShared = prepare(
      'select max(base) as seq from ledgers where parent = ? and base > ?',
    );
    this.#lastEvent = prepare(`select seq from events where ${ofLedger} order by id desc limit 1`);
    this.#removeEvents = prepare(
      `delete from events where id > ${rowId('?1', '?2')} and id < ${rowId('(?1 + 1)', '0')}`,
    );
    this.#removals = preparedRemovals(prepare, tables.blobs);
    this.#keep = prepare('update ledgers set purge = null, seq = ? where id = ?');
    this.#remove = prepare('delete from ledgers where id = ?');
    this.#lookAgain = prepare('update ledgers set purge = 1 where id = ? and session is null');
  }

  /** @throws SessionNotFoundError */
  delete(request: WriteOperations['delete']['request']): null {
    const ledger = this.#tables.ledgers.get(request);
    const deleted = request.erase
      ? (this.#family.all(ledger.id) as { id: number; epoch: number }[])
      : [ledger];
    for (const { id } of deleted) this.#tables.tombstones.add(id);
    this.#overwriting(() => {
      for (const { id } of deleted) {
        this.#hide.run(id);
        this.#forgetRequests.run(id);
        this.#tables.listedRows.forget(id);
      }
    });
    for (const { id } of deleted) {
      const turn = this.#tables.turns.turn(id);
      if (turn !== undefined) this.#changes.remove(turn, request.now);
    }
    this.#raiseFirstEpoch.run(
      request.tenant,
      request.app,
      Math.max(...deleted.map(({ epoch }) => epoch)) + 1,
    );
    return null;
  }

  /** Removes some rows of deleted sessions. Returns true when there may be more. */
  purge(): boolean {
    const ledger = this.#nextToPurge.get() as
      | { id: number; parent: number | null; base: number }
      | undefined;
    if (ledger === undefined) return false;
    this.#overwriting(() => this.#purgeLedger(ledger));
    return true;
  }

  /**
   * Removes rows so that no bytes of them stay in the file, even where that writes more pages. It
   * costs as much as it writes, so it is not the rule.
   */
  #overwriting(remove: () => void): void {
    this.#database.exec('pragma secure_delete = on');
    try {
      remove();
    } finally {
      this.#database.exec('pragma secure_delete = fast');
    }
  }

  #purgeLedger({
    id,
    parent,
    base,
  }: {
    readonly id: number;
    readonly parent: number | null;
    readonly base: number;
  }): void {
    const lastShared = this.#lastShared.get(id, base)?.['seq'] as number | null;
    const keep = lastShared ?? base;
    const last = (this.#lastEvent.get(id)?.['seq'] as number | null) ?? 0;
    if (last > keep) {
      this.#removeEvents.run(id, Math.max(keep, last - mostRowsPerPurge));
      return;
    }
    // Where nothing is shared no reference counts, not even one that is not known by event.
    for (const remove of this.#removals) if (remove(id, lastShared ?? -1) > 0) return;
    if (lastShared !== null) {
      this.#keep.run(keep, id);
      return;
    }
    this.#remove.run(id);
    if (parent !== null) this.#lookAgain.run(parent);
  }
}

/**
 * Prepares the removal of the rows of a ledger besides events. Blobs go when only its own unshared
 * events refer to them.
 */
function preparedRemovals(
  prepare: (sql: string) => StatementSync,
  blobs: BlobRows,
): readonly ((ledger: number, lastShared: number) => number | bigint)[] {
  const of = (table: string, key: string, limit = mostRowsPerPurge) => {
    const remove = prepare(
      `delete from ${table} where ledger = ?1 and (${key}) in (select ${key} from ${table} ` +
        `where ledger = ?1 limit ${limit})`,
    );
    return (ledger: number) => remove.run(ledger).changes;
  };
  const inbox = prepare(
    `delete from inbox where id in (select id from inbox where ${ofLedger} limit ` +
      `${mostRowsPerPurge})`,
  );
  return [
    (ledger) => inbox.run(ledger).changes,
    of('posted', 'key'),
    of('snapshots', 'key, seq', mostSnapshotsPerPurge),
    (ledger, lastShared) => blobs.forget(ledger, lastShared),
  ];
}
