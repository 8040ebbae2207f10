import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LedgerConflictError, SessionBusyError, SessionExistsError } from '../../ledger/errors.ts';
import type { AppendReceipt, Claim, PostReceipt, ReleaseReceipt } from '../../ledger/port.ts';
import { checkForkPoint } from '../batch.ts';
import { isOwnerGone } from '../owner.ts';
import { Deletion } from './deletion.ts';
import { fieldsPerEvent } from './encoding.ts';
import type {
  AppendRequest,
  ScopeAddress,
  SessionAddress,
  WriteOperations,
  WriteRequest,
} from './protocol.ts';
import { AddressKeyRows } from './rows/address-key-rows.ts';
import { BlobRows } from './rows/blob-rows.ts';
import { EventRows } from './rows/event-rows.ts';
import type { LedgerRow, LedgerRows } from './rows/ledger-rows.ts';
import type { RequestRows } from './rows/request-rows.ts';
import { rowId } from './rows/rows-by-id.ts';
import { SharedRows } from './rows/shared-rows.ts';
import type { SnapshotRows } from './rows/snapshot-rows.ts';

type RequestOf<Name extends keyof WriteOperations> = WriteOperations[Name]['request'];

/**
 * The operations that change the file, each to be called within a transaction. Every one checks all
 * reasons for a refusal before its first write. So a refused request leaves the transaction usable
 * for the others of its group.
 */
export class WriteOperationsOfFile {
  readonly #ledgers: LedgerRows;
  readonly #advance: StatementSync;
  readonly #summarise: StatementSync;
  readonly #wake: StatementSync;
  readonly #insertLedger: StatementSync;
  readonly #lease: StatementSync;
  readonly #release: StatementSync;
  readonly #consume: StatementSync;
  readonly #isPosted: StatementSync;
  readonly #markPosted: StatementSync;
  readonly #insertItem: StatementSync;
  readonly #raiseInbox: StatementSync;
  readonly #firstEpoch: StatementSync;
  readonly #events: EventRows;
  readonly #shared: SharedRows;
  readonly #blobs: BlobRows;
  readonly #addressKeys: AddressKeyRows;
  readonly #requests: RequestRows;
  readonly #snapshots: SnapshotRows;
  readonly #deletion: Deletion;

  constructor(
    database: DatabaseSync,
    tables: {
      readonly ledgers: LedgerRows;
      readonly requests: RequestRows;
      readonly snapshots: SnapshotRows;
    },
  ) {
    const prepare = (sql: string): StatementSync => database.prepare(sql);
    this.#ledgers = tables.ledgers;
    this.#requests = tables.requests;
    this.#snapshots = tables.snapshots;
    this.#events = new EventRows(database);
    this.#shared = new SharedRows(database);
    this.#blobs = new BlobRows(database);
    this.#addressKeys = new AddressKeyRows(database);
    this.#deletion = new Deletion(database, tables.ledgers, this.#blobs);
    this.#advance = prepare(
      'update ledgers set seq = ?, updated_at = ?, lease_until = ? where id = ?',
    );
    this.#summarise = prepare(
      'update ledgers set status = ?, title = ?, runnable = ?, user = ? where id = ?',
    );
    this.#wake = prepare('update ledgers set wake_at = ? where id = ?');
    this.#insertLedger = prepare(`insert into ledgers
      (tenant, app, session, parent, base, seq, epoch, inbox_seq, created_at, updated_at, status,
        title, runnable, user)
      values (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)`);
    this.#lease = prepare(
      'update ledgers set epoch = ?, owner = ?, lease_ms = ?, lease_until = ? where id = ?',
    );
    this.#release = prepare(
      'update ledgers set owner = null, lease_ms = null, lease_until = null where id = ?',
    );
    this.#consume = prepare(`delete from inbox where id = ${rowId('?1', '?2')} and ledger = ?1`);
    this.#isPosted = prepare('select 1 from posted where ledger = ? and key = ?');
    this.#markPosted = prepare('insert into posted (ledger, key) values (?, ?)');
    this.#insertItem = prepare(
      'insert into inbox (id, key, lane, actor, at, type, data, settles) values ' +
        `(${rowId('?', '?')}, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#raiseInbox = prepare('update ledgers set inbox_seq = ? where id = ?');
    // No new ledger begins under a lower epoch. So the writer of a deleted ledger finds none that
    // looks like its own.
    this.#firstEpoch = prepare('select epoch from first_epochs where tenant = ? and app = ?');
  }

  perform(request: WriteRequest): unknown {
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
        return this.#post(request[1]);
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
        return this.#snapshots.put(request[1]);
      case 'delete':
        return this.#deletion.delete(request[1]);
      case 'purge':
        return this.#deletion.purge();
    }
  }

  /** Forgets the written rows, after a rollback of the transaction around the last operations. */
  rolledBack(): void {
    this.#events.rolledBack();
  }

  #append(request: AppendRequest): AppendReceipt {
    const { expected, fields } = request;
    const ledger = this.#ledgers.find(request);
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
    return receipt;
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
    if (requests !== undefined) this.#requests.open(request, ledger, requests);
    if (settles !== undefined) this.#requests.settlePending(request, ledger, settles, request.now);
    if (shared !== undefined) this.#shared.write(request, shared);
  }

  #claim(request: RequestOf<'claim'>): Claim {
    const { session, owner, now } = request;
    const ledger = this.#ledgers.find(request);
    if (ledger !== undefined && request.force !== true)
      refuseWhileHeld(ledger, session, owner, now);
    const before = ledger ?? this.#createLedger(request, now);
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

  #createLedger(
    { tenant, app, session }: SessionAddress,
    now: number,
  ): { readonly id: number; readonly epoch: number } {
    const epoch = this.#findFirstEpoch({ tenant, app });
    const created = this.#insertLedger.run(
      tenant,
      app,
      session,
      null,
      0,
      0,
      epoch,
      now,
      now,
      'active',
      null,
      null,
      null,
    );
    return { id: Number(created.lastInsertRowid), epoch };
  }

  #findFirstEpoch({ tenant, app }: ScopeAddress): number {
    return (this.#firstEpoch.get(tenant, app)?.['epoch'] as number | undefined) ?? 0;
  }

  #renew({ tenant, app, now, claim }: RequestOf<'renew'>): AppendReceipt {
    const ledger = this.#ledgers.find({ tenant, app, session: claim.session });
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

  #releaseClaim({ tenant, app, claim, inboxSeq, now }: RequestOf<'release'>): ReleaseReceipt {
    const ledger = this.#ledgers.find({ tenant, app, session: claim.session });
    if (ledger === undefined) return { released: true, inboxSeq: 0, now };
    const isLast = ledger.epoch === claim.epoch;
    const released = !isLast || inboxSeq === undefined || ledger.inbox_seq <= inboxSeq;
    if (isLast && released) this.#release.run(ledger.id);
    return { released, inboxSeq: ledger.inbox_seq, now };
  }

  #post(request: RequestOf<'post'>): PostReceipt {
    const { item, now } = request;
    const ledger = this.#ledgers.get(request);
    if (this.#isPosted.get(ledger.id, item.key) !== undefined)
      return { inboxSeq: ledger.inbox_seq, duplicate: true, now };
    if (item.settles !== undefined)
      this.#requests.checkAnswer(request, ledger.id, item.settles, now);
    const position = ledger.inbox_seq + 1;
    this.#markPosted.run(ledger.id, item.key);
    this.#insertItem.run(
      ledger.id,
      position,
      item.key,
      item.lane,
      item.by,
      item.at,
      item.type,
      JSON.stringify(item.data),
      item.settles ?? null,
    );
    this.#raiseInbox.run(position, ledger.id);
    if (item.settles !== undefined)
      this.#requests.answer(request, ledger.id, item.settles, item.by, now);
    return { inboxSeq: position, duplicate: false, now };
  }

  #settle(request: RequestOf<'settle'>): null {
    this.#requests.settle(request, request.settlement, request.now);
    return null;
  }

  #fork(request: RequestOf<'fork'>): null {
    const { tenant, app, session, atSeq, newSession, fields, now } = request;
    const ledger = this.#ledgers.get(request);
    checkForkPoint(session, atSeq, ledger.seq);
    if (this.#ledgers.find({ tenant, app, session: newSession }) !== undefined)
      throw new SessionExistsError({ session: newSession });
    // A fork of a shared prefix refers to the ledger that holds the events. So chains grow only
    // where ledgers did.
    const parent = this.#ledgers.holderOf(ledger, atSeq).id;
    const status = atSeq === ledger.seq ? ledger.status : 'active';
    const epoch = this.#findFirstEpoch(request);
    const seq = atSeq + fields.length / fieldsPerEvent;
    const at = fields.length === 0 ? now : (fields[fields.length - fieldsPerEvent + 1] as number);
    const { title, runnable, user } = ledger;
    const made = this.#insertLedger.run(
      tenant,
      app,
      newSession,
      parent,
      atSeq,
      seq,
      epoch,
      now,
      at,
      status,
      title,
      runnable,
      user,
    );
    this.#events.insert(Number(made.lastInsertRowid), fields);
    return null;
  }
}

function refuseWhileHeld(ledger: LedgerRow, session: string, owner: string, now: number): void {
  const { owner: holder, lease_until: until } = ledger;
  if (holder === null || until === null || holder === owner || until <= now || isOwnerGone(holder))
    return;
  throw new SessionBusyError({ session, owner: holder, until });
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
