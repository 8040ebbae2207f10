import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LedgerConflictError, SessionExistsError } from '../../ledger/errors.ts';
import type { AppendReceipt, Claim, ReleaseReceipt } from '../../ledger/port.ts';
import { checkForkPoint } from '../batch.ts';
import type { Turn } from '../turns/turn.ts';
import { TurnChanges } from '../turns/turn-changes.ts';
import { Deletion } from './deletion.ts';
import { fieldsPerEvent } from './encoding.ts';
import { Posts } from './posts.ts';
import type { AppendRequest, SessionAddress, WriteOperations, WriteRequest } from './protocol.ts';
import { Replacement, refuseWhileHeld } from './replacement.ts';
import { AddressKeyRows } from './rows/address-key-rows.ts';
import { BlobRows } from './rows/blob-rows.ts';
import { EventRows } from './rows/event-rows.ts';
import type { LedgerRow } from './rows/ledger-rows.ts';
import { NewLedgers } from './rows/new-ledgers.ts';
import { rowId } from './rows/rows-by-id.ts';
import { SharedRows } from './rows/shared-rows.ts';
import type { FileTables } from './rows/tables-of-file.ts';
import { TombstoneRows } from './rows/tombstone-rows.ts';
import { tryRoom } from './rows/trial-write.ts';
import { TurnOperations } from './turn-operations.ts';

type RequestOf<Name extends keyof WriteOperations> = WriteOperations[Name]['request'];

/**
 * The operations that change the file, each to be called within a transaction. Every one checks all
 * reasons for a refusal before its first write. So a refused request leaves the transaction usable
 * for the others of its group.
 */
export class WriteOperationsOfFile {
  readonly #database: DatabaseSync;
  readonly #tables: FileTables;
  readonly #newLedgers: NewLedgers;
  readonly #advance: StatementSync;
  readonly #summarise: StatementSync;
  readonly #wake: StatementSync;
  readonly #lease: StatementSync;
  readonly #release: StatementSync;
  readonly #consume: StatementSync;
  readonly #events: EventRows;
  readonly #shared: SharedRows;
  readonly #blobs: BlobRows;
  readonly #addressKeys: AddressKeyRows;
  readonly #deletion: Deletion;
  readonly #posts: Posts;
  readonly #replacement: Replacement;
  readonly #turns: TurnOperations;
  readonly #changes: TurnChanges;

  constructor(database: DatabaseSync, tables: FileTables) {
    this.#database = database;
    const prepare = (sql: string): StatementSync => database.prepare(sql);
    this.#tables = tables;
    this.#newLedgers = new NewLedgers(database);
    this.#events = new EventRows(database);
    this.#shared = new SharedRows(database);
    this.#blobs = new BlobRows(database);
    this.#addressKeys = new AddressKeyRows(database);
    const tombstones = new TombstoneRows(database);
    this.#changes = new TurnChanges(tables.turns);
    this.#turns = new TurnOperations(database, tables);
    this.#posts = new Posts(database, { ...tables, newLedgers: this.#newLedgers, tombstones });
    this.#replacement = new Replacement(database, tables);
    this.#deletion = new Deletion(database, { ...tables, blobs: this.#blobs, tombstones });
    this.#advance = prepare(
      'update ledgers set seq = ?, updated_at = ?, lease_until = ? where id = ?',
    );
    this.#summarise = prepare(
      'update ledgers set status = ?, title = ?, runnable = ?, user = ? where id = ?',
    );
    this.#wake = prepare('update ledgers set wake_at = ? where id = ?');
    this.#lease = prepare(
      'update ledgers set epoch = ?, owner = ?, lease_ms = ?, lease_until = ? where id = ?',
    );
    this.#release = prepare(
      'update ledgers set owner = null, lease_ms = null, lease_until = null where id = ?',
    );
    this.#consume = prepare(`delete from inbox where id = ${rowId('?1', '?2')} and ledger = ?1`);
  }

  perform(request: WriteRequest): unknown {
    this.#tables.turns.begin();
    switch (request[0]) {
      case 'append':
        return this.#append(request[1]);
      case 'claim':
        return this.#claim(request[1]);
      case 'renew':
        return this.#renew(request[1]);
      case 'release':
        return this.#releaseClaim(request[1]);
      case 'post':
        return this.#posts.post(request[1]);
      case 'take':
        return this.#turns.take(request[1]);
      case 'explainTurn':
        return this.#turns.explain(request[1]);
      case 'replaceRows':
        return this.#replacement.replace(request[1]);
      case 'sent':
        return this.#sent(request[1]);
      case 'fork':
        return this.#fork(request[1]);
      case 'keepAddressKey':
        return this.#addressKeys.keep(request[1]);
      case 'putBlob':
        return this.#blobs.put(request[1]);
      case 'sweepBlobs':
        return this.#blobs.sweep(request[1]);
      case 'settle':
        return this.#settle(request[1]);
      case 'putSnapshot':
        return this.#tables.snapshots.put(request[1]);
      case 'delete':
        return this.#deletion.delete(request[1]);
      case 'purge':
        return this.#deletion.purge();
      case 'tryRoom':
        return tryRoom(this.#database, request[1].step);
    }
  }

  /** Forgets the written rows, after a rollback of the transaction around the last operations. */
  rolledBack(): void {
    this.#events.rolledBack();
  }

  #append(request: AppendRequest): AppendReceipt {
    const { expected, fields } = request;
    const ledger = this.#tables.ledgers.find(request);
    if (ledger === undefined || ledger.epoch !== expected.epoch)
      throw conflict(request.session, expected, ledger);
    const seq = expected.seq + fields.length / fieldsPerEvent;
    const receipt = { seq, epoch: ledger.epoch, inboxSeq: ledger.inbox_seq, now: request.now };
    if (ledger.seq !== expected.seq) {
      if (!this.#events.landedBefore(ledger.id, fields))
        throw conflict(request.session, expected, ledger);
      return receipt;
    }
    if (request.blobs !== undefined) this.#blobs.check(request, request.blobs);
    this.#shared.check(request);
    this.#events.insert(ledger.id, fields);
    const at = fields.length === 0 ? ledger.updated_at : fields[fields.length - fieldsPerEvent + 1];
    const leaseUntil = ledger.lease_ms === null ? null : request.now + ledger.lease_ms;
    this.#advance.run(seq, at as number, leaseUntil, ledger.id);
    this.#writeRest(request, ledger.id);
    this.#writeBeside(request, ledger.id);
    return receipt;
  }

  /** Writes the parts of a batch that are found across sessions. */
  #writeBeside(request: AppendRequest, ledger: number): void {
    const { now, rows, sends, turn, wakeAt } = request;
    if (rows !== undefined) this.#tables.listedRows.write(request, ledger, rows);
    if (sends !== undefined) this.#tables.outbox.add(request, sends, now);
    if (turn !== undefined) this.#changes.patch(identityOf(request, ledger), turn, now);
    if (wakeAt !== undefined) this.#changes.woken(ledger, wakeAt);
  }

  #writeRest(request: AppendRequest, ledger: number): void {
    const { summary, consumes, blobs, shared, requests, settles, wakeAt } = request;
    if (summary !== undefined) {
      this.#summarise.run(
        summary.status,
        summary.title ?? null,
        summary.runnable ?? null,
        summary.user ?? null,
        ledger,
      );
    }
    if (wakeAt !== undefined) this.#wake.run(wakeAt, ledger);
    if (consumes !== undefined)
      for (const position of consumes) this.#consume.run(ledger, position);
    if (blobs !== undefined)
      this.#blobs.refer(
        ledger,
        blobs,
        (request.fields[0] as number | undefined) ?? request.expected.seq,
      );
    if (requests !== undefined) this.#tables.requests.open(request, ledger, requests);
    if (settles !== undefined)
      this.#tables.requests.settlePending(request, ledger, settles, request.now);
    if (shared !== undefined) this.#shared.write(request, shared);
  }

  #claim(request: RequestOf<'claim'>): Claim {
    const { session, owner, now } = request;
    const ledger = this.#tables.ledgers.find(request);
    if (ledger !== undefined && request.force !== true)
      refuseWhileHeld(ledger, session, owner, now);
    if (ledger !== undefined) this.#changes.claimed(ledger.id, now);
    const before = ledger ?? this.#newLedgers.make(request, now, false);
    const epoch = before.epoch + 1;
    const until = now + request.ttlMs;
    this.#lease.run(epoch, owner, request.ttlMs, until, before.id);
    return {
      session,
      owner,
      epoch,
      seq: ledger?.seq ?? 0,
      inboxSeq: ledger?.inbox_seq ?? 0,
      until,
      now,
    };
  }

  #renew({ tenant, app, now, claim }: RequestOf<'renew'>): AppendReceipt {
    const ledger = this.#tables.ledgers.find({ tenant, app, session: claim.session });
    if (ledger === undefined || ledger.epoch !== claim.epoch)
      throw conflict(claim.session, claim, ledger);
    if (ledger.owner !== null)
      this.#lease.run(
        ledger.epoch,
        ledger.owner,
        ledger.lease_ms,
        now + (ledger.lease_ms ?? 0),
        ledger.id,
      );
    return { seq: ledger.seq, epoch: ledger.epoch, inboxSeq: ledger.inbox_seq, now };
  }

  #releaseClaim(request: RequestOf<'release'>): ReleaseReceipt {
    const { tenant, app, claim, inboxSeq, turn, now } = request;
    const address = { tenant, app, session: claim.session };
    const ledger = this.#tables.ledgers.find(address);
    if (ledger === undefined) return { released: true, inboxSeq: 0, now };
    const isLast = ledger.epoch === claim.epoch;
    const released = !isLast || inboxSeq === undefined || ledger.inbox_seq <= inboxSeq;
    if (isLast && released) {
      this.#release.run(ledger.id);
      this.#changes.released(identityOf(address, ledger.id), turn, now);
    }
    return { released, inboxSeq: ledger.inbox_seq, now };
  }

  #sent(request: RequestOf<'sent'>): null {
    this.#tables.outbox.remove(request, request.numbers);
    return null;
  }

  #settle(request: RequestOf<'settle'>): null {
    this.#tables.requests.settle(request, request.settlement, request.now);
    return null;
  }

  #fork(request: RequestOf<'fork'>): null {
    const { tenant, app, session, atSeq, newSession, fields, now } = request;
    const ledger = this.#tables.ledgers.get(request);
    checkForkPoint(session, atSeq, ledger.seq);
    if (this.#tables.ledgers.find({ tenant, app, session: newSession }) !== undefined)
      throw new SessionExistsError({ session: newSession });
    // A fork of a shared prefix refers to the ledger that holds the events. So chains grow only
    // where ledgers did.
    const parent = this.#tables.ledgers.holderOf(ledger, atSeq).id;
    const status = atSeq === ledger.seq ? ledger.status : 'active';
    const seq = atSeq + fields.length / fieldsPerEvent;
    const updatedAt =
      fields.length === 0 ? now : (fields[fields.length - fieldsPerEvent + 1] as number);
    const { title, runnable, user } = ledger;
    const from = { parent, base: atSeq, seq, updatedAt, status, title, runnable, user };
    const made = this.#newLedgers.fork({ tenant, app, session: newSession }, now, from);
    this.#events.insert(made.id, fields);
    return null;
  }
}

function identityOf(
  { tenant, app, session }: SessionAddress,
  ledger: number,
): Pick<Turn, 'ledger' | 'tenant' | 'app' | 'session'> {
  return { ledger, tenant, app, session };
}

function conflict(
  session: string,
  expected: { readonly seq: number; readonly epoch: number },
  found: LedgerRow | undefined,
): LedgerConflictError {
  return new LedgerConflictError({
    session,
    expected: { seq: expected.seq, epoch: expected.epoch },
    found: { seq: found?.seq ?? 0, epoch: found?.epoch ?? 0 },
  });
}
