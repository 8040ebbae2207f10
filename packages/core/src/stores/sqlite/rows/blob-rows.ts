import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BlobMissingError } from '../../../ledger/errors.ts';
import type { ScopeAddress, SweptBlobs, WriteOperations } from '../protocol.ts';

/** Most blobs that one sweep checks: the lock must not be kept for long. */
const mostBlobsPerSweep = 64;

/** The tables of blobs and of the references to them. */
export class BlobRows {
  readonly #exists: StatementSync;
  readonly #put: StatementSync;
  readonly #refer: StatementSync;
  readonly #candidates: StatementSync;
  readonly #remove: StatementSync;
  readonly #referredFrom: StatementSync;
  readonly #forget: StatementSync;
  readonly #removeUnused: StatementSync;

  constructor(database: DatabaseSync) {
    this.#exists = database.prepare(
      'select 1 from blobs where address = ? and tenant = ? and app = ?',
    );
    this.#put = database.prepare(
      'insert into blobs (address, tenant, app, put_at, bytes) values (?, ?, ?, ?, ?) on ' +
        'conflict (address) do update set put_at = excluded.put_at',
    );
    // The first event that may refer to it counts: forks that share the event share the reference.
    this.#refer = database.prepare(
      'insert or ignore into blob_references (ledger, address, seq) values (?, ?, ?)',
    );
    this.#candidates = database.prepare(`select rowid as row, put_at as putAt,
      exists (select 1 from blob_references where blob_references.address = blobs.address) as used
      from blobs where put_at < ? and (put_at, rowid) > (?, ?) order by put_at, rowid
        limit ${mostBlobsPerSweep}`);
    this.#remove = database.prepare('delete from blobs where rowid = ?');
    this.#referredFrom = database.prepare(
      `select address from blob_references where ledger = ? and seq > ? limit ${mostBlobsPerSweep}`,
    );
    this.#forget = database.prepare('delete from blob_references where ledger = ? and address = ?');
    this.#removeUnused = database.prepare(`delete from blobs where address = ?1
      and not exists (select 1 from blob_references where blob_references.address = ?1)`);
  }

  /** @throws BlobMissingError */
  check({ tenant, app }: ScopeAddress, addresses: readonly string[]): void {
    for (const address of addresses)
      if (this.#exists.get(address, tenant, app) === undefined)
        throw new BlobMissingError({ address });
  }

  put({ tenant, app, address, bytes, now }: WriteOperations['putBlob']['request']): null {
    this.#put.run(address, tenant, app, now, bytes);
    return null;
  }

  refer(ledger: number, addresses: readonly string[], firstSeq: number): void {
    for (const address of addresses) this.#refer.run(ledger, address, firstSeq);
  }

  /**
   * Removes some references after an event, with the blobs that nothing else refers to. Returns
   * their number.
   */
  forget(ledger: number, after: number): number {
    const addresses = this.#referredFrom.all(ledger, after).map((row) => row['address'] as string);
    for (const address of addresses) {
      this.#forget.run(ledger, address);
      this.#removeUnused.run(address);
    }
    return addresses.length;
  }

  sweep({ before, after }: WriteOperations['sweepBlobs']['request']): SweptBlobs {
    const { putAt, row } = after ?? { putAt: Number.MIN_SAFE_INTEGER, row: 0 };
    const found = this.#candidates.all(before, putAt, row).map((blob) => ({
      row: blob['row'] as number,
      putAt: blob['putAt'] as number,
      used: blob['used'] as number,
    }));
    const unused = found.filter(({ used }) => used === 0);
    for (const blob of unused) this.#remove.run(blob.row);
    const last = found.length < mostBlobsPerSweep ? undefined : found.at(-1);
    return {
      removed: unused.length,
      ...(last === undefined ? {} : { last: { putAt: last.putAt, row: last.row } }),
    };
  }
}
