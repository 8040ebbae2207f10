import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BlobMissingError } from '../../../ledger/errors.ts';
import type { ReadOperations } from '../protocol.ts';

/** Reads blobs. On behalf of a session, only those that it or its shared prefix refers to. */
export class BlobReads {
  readonly #any: StatementSync;
  readonly #ofSession: StatementSync;

  constructor(database: DatabaseSync) {
    this.#any = database.prepare(
      'select bytes from blobs where address = ?1 and tenant = ?2 and app = ?3',
    );
    this.#ofSession = database.prepare(`with recursive line (ledger, parent, base, last) as (
        select id, parent, base, ${Number.MAX_SAFE_INTEGER} from ledgers where tenant = ?2
          and app = ?3 and session = ?4
        union all
        select ledgers.id, ledgers.parent, ledgers.base, min(line.base, line.last) from line
          join ledgers on ledgers.id = line.parent
      )
      select bytes from blobs where address = ?1 and tenant = ?2 and app = ?3 and exists (
        select 1 from blob_references join line on line.ledger = blob_references.ledger
        where blob_references.address = ?1 and blob_references.seq <= line.last)`);
  }

  /** @throws BlobMissingError */
  get({ tenant, app, address, session }: ReadOperations['getBlob']['request']): Uint8Array {
    const row =
      session === undefined
        ? this.#any.get(address, tenant, app)
        : this.#ofSession.get(address, tenant, app, session);
    if (row === undefined) throw new BlobMissingError({ address });
    return row['bytes'] as Uint8Array;
  }
}
