import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { JsonObject } from '../../../base/json.ts';
import type { StoredRow } from '../../../ledger/port.ts';
import type { ReadOperations, RowFields, ScopeAddress } from '../protocol.ts';
import { Conditions, StatementCache } from '../statements.ts';

/** The table of rows that are found across sessions. */
export class ListedRows {
  readonly #statements: StatementCache;
  readonly #write: StatementSync;
  readonly #remove: StatementSync;
  readonly #forget: StatementSync;
  readonly #forgetKind: StatementSync;

  constructor(database: DatabaseSync) {
    this.#statements = new StatementCache(database);
    this.#write = database.prepare(`insert into listed_rows
      (tenant, app, kind, id, ledger, status, at, expires_at, user, body)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      on conflict do update set ledger = excluded.ledger, status = excluded.status,
        at = excluded.at, expires_at = excluded.expires_at, user = excluded.user,
        body = excluded.body`);
    this.#remove = database.prepare(
      'delete from listed_rows where tenant = ? and app = ? and kind = ? and id = ?',
    );
    this.#forgetKind = database.prepare('delete from listed_rows where ledger = ? and kind = ?');
    this.#forget = database.prepare('delete from listed_rows where ledger = ?');
  }

  write({ tenant, app }: ScopeAddress, ledger: number, rows: readonly RowFields[]): void {
    for (const { kind, id, status, at, expiresAt, user, body } of rows)
      if (body === null) this.#remove.run(tenant, app, kind, id);
      else this.#write.run(tenant, app, kind, id, ledger, status, at, expiresAt, user, body);
  }

  replace(
    scope: ScopeAddress,
    ledger: number,
    { kinds, rows }: { readonly kinds: readonly string[]; readonly rows: readonly RowFields[] },
  ): void {
    for (const kind of kinds) this.#forgetKind.run(ledger, kind);
    this.write(scope, ledger, rows);
  }

  forget(ledger: number): void {
    this.#forget.run(ledger);
  }

  list({
    tenant,
    app,
    filter,
    limit,
    now,
  }: ReadOperations['rows']['request']): readonly StoredRow[] {
    const { kind, id, session, statuses, user, after, newestFirst = false } = filter;
    const conditions = new Conditions()
      .equal('listed_rows.tenant', tenant)
      .equal('listed_rows.app', app)
      .equal('kind', kind)
      .equal('listed_rows.id', id)
      .equal('listed_rows.user', user)
      .add('(expires_at is null or expires_at > ?)', now);
    if (session !== undefined)
      conditions.add(
        'ledger = (select id from ledgers where tenant = ? and app = ? and session = ?)',
        ...[tenant, app, session],
      );
    if (statuses !== undefined)
      conditions.add(
        'listed_rows.status in (select value from json_each(?))',
        JSON.stringify(statuses),
      );
    const [beyond, order] = newestFirst ? ['<', 'desc'] : ['>', 'asc'];
    if (after !== undefined)
      conditions.add(`(at, listed_rows.id) ${beyond} (?, ?)`, after.at, after.id);
    return this.#statements
      .get(`select kind, listed_rows.id, session, listed_rows.status, at, expires_at,
          listed_rows.user, body
        from listed_rows join ledgers on ledgers.id = listed_rows.ledger
        where ${conditions.text} order by at ${order}, listed_rows.id ${order} limit ?`)
      .all(...conditions.values, limit)
      .map(storedRow);
  }
}

function storedRow(row: Record<string, SQLInputValue>): StoredRow {
  const { kind, id, session, status, at, expires_at: expiresAt, user, body } = row;
  return {
    ...({ kind, id, session, status, at } as Pick<StoredRow, 'kind' | 'id' | 'session'>),
    ...(expiresAt === null ? {} : { expiresAt }),
    ...(user === null ? {} : { user }),
    body: JSON.parse(body as string) as JsonObject,
  } as StoredRow;
}
