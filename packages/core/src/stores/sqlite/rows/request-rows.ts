import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Actor } from '../../../ledger/event.ts';
import type {
  RequestDraft,
  RequestFilter,
  RequestRow,
  RequestSettlement,
  RequestStatus,
} from '../../../ledger/port.ts';
import { checkAnswer, checkSettlement, type RequestState } from '../../requests.ts';
import type { RequestFields, ScopeAddress, SessionAddress, SettledFields } from '../protocol.ts';
import { Conditions, StatementCache } from '../statements.ts';
import type { LedgerRows } from './ledger-rows.ts';

/** The table of requests. */
export class RequestRows {
  readonly #ledgers: LedgerRows;
  readonly #statements: StatementCache;
  readonly #insert: StatementSync;
  readonly #state: StatementSync;
  readonly #settle: StatementSync;
  readonly #forget: StatementSync;

  constructor(database: DatabaseSync, ledgers: LedgerRows) {
    this.#ledgers = ledgers;
    this.#statements = new StatementCache(database);
    this.#insert = database.prepare(`insert or ignore into requests
      (tenant, app, request, ledger, kind, user, operation, created_at, expires_at, status, body)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?)`);
    this.#state = database.prepare(
      'select ledger, status, settled_by, expires_at from requests where tenant = ? and ' +
        'app = ? and request = ?',
    );
    this.#forget = database.prepare('delete from requests where ledger = ?');
    this.#settle = database.prepare(`update requests set status = ?, settled_by = ?, settled_at = ?
      where tenant = ? and app = ? and request = ? and ledger = ? and status = 'pending'`);
  }

  /** Adds requests; one that exists already stays unchanged. */
  open({ tenant, app }: ScopeAddress, ledger: number, requests: readonly RequestFields[]): void {
    for (const { requestId, kind, user, operationId, createdAt, expiresAt, body } of requests) {
      this.#insert.run(
        tenant,
        app,
        requestId,
        ledger,
        kind,
        user,
        operationId,
        createdAt,
        expiresAt,
        body,
      );
    }
  }

  /** Settles requests of a ledger that are still pending. */
  settlePending(
    { tenant, app }: ScopeAddress,
    ledger: number,
    settlements: readonly RequestSettlement[],
    now: number,
  ): void {
    for (const { requestId, status, by } of settlements)
      this.#settle.run(status, by, now, tenant, app, requestId, ledger);
  }

  /** @throws RequestNotFoundError, RequestSettledError */
  checkAnswer(address: SessionAddress, ledger: number, requestId: string, now: number): void {
    checkAnswer(address.session, requestId, this.#find(address, ledger, requestId), now);
  }

  answer(address: SessionAddress, ledger: number, requestId: string, by: Actor, now: number): void {
    this.settlePending(address, ledger, [{ requestId, status: 'answered', by }], now);
  }

  /** @throws RequestNotFoundError, RequestSettledError */
  settle(address: SessionAddress, settlement: RequestSettlement, now: number): void {
    // A session that was deleted has no requests.
    const ledger = this.#ledgers.find(address)?.id ?? 0;
    const found = this.#find(address, ledger, settlement.requestId);
    if (checkSettlement(address.session, settlement, found))
      this.settlePending(address, ledger, [settlement], now);
  }

  /** Replaces the requests of a ledger. */
  replace({ tenant, app }: ScopeAddress, ledger: number, requests: readonly SettledFields[]): void {
    this.#forget.run(ledger);
    this.open({ tenant, app }, ledger, requests);
    for (const { requestId, settledAt, settledBy, status } of requests)
      if (status !== 'pending')
        this.#settle.run(status, settledBy, settledAt, tenant, app, requestId, ledger);
  }

  list(scope: ScopeAddress, filter: RequestFilter, limit: number): readonly RequestRow[] {
    const conditions = new Conditions().equal('tenant', scope.tenant).equal('app', scope.app);
    conditions
      .equal('request', filter.requestId)
      .equal('operation', filter.operationId)
      .equal('user', filter.user);
    if (filter.session !== undefined)
      conditions.equal(
        'ledger',
        this.#ledgers.find({ ...scope, session: filter.session })?.id ?? 0,
      );
    // As a literal, so that the index of pending requests is used.
    if (filter.status === 'pending') conditions.add("status = 'pending'");
    else conditions.equal('status', filter.status);
    if (filter.kinds !== undefined)
      conditions.add('kind in (select value from json_each(?))', JSON.stringify(filter.kinds));
    if (filter.after !== undefined)
      conditions.add(
        '(created_at, request) > (?, ?)',
        filter.after.createdAt,
        filter.after.requestId,
      );
    const sql =
      `select status, settled_by, settled_at, body from requests where ${conditions.text} ` +
      'order by created_at, request limit ?';
    return this.#statements
      .get(sql)
      .all(...conditions.values, limit)
      .map(requestRow);
  }

  #find(
    { tenant, app, session }: SessionAddress,
    ledger: number,
    requestId: string,
  ): RequestState | undefined {
    const row = this.#state.get(tenant, app, requestId);
    if (row?.['ledger'] !== ledger) return undefined;
    return {
      requestId,
      session,
      status: row['status'] as RequestStatus,
      ...(row['settled_by'] === null ? {} : { settledBy: row['settled_by'] as Actor }),
      ...(row['expires_at'] === null ? {} : { expiresAt: row['expires_at'] as number }),
    };
  }
}

function requestRow(row: Record<string, SQLInputValue>): RequestRow {
  return {
    ...(JSON.parse(row['body'] as string) as RequestDraft),
    status: row['status'] as RequestStatus,
    ...(row['settled_by'] === null
      ? {}
      : { settledBy: row['settled_by'] as Actor, settledAt: row['settled_at'] as number }),
  };
}
