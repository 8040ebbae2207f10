import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Send } from '../../../ledger/port.ts';
import type { ReadOperations, SessionAddress } from '../protocol.ts';
import { Conditions, StatementCache } from '../statements.ts';

/** The table of sends without a receipt. It outlives the sessions that send. */
export class OutboxRows {
  readonly #statements: StatementCache;
  readonly #insert: StatementSync;
  readonly #remove: StatementSync;

  constructor(database: DatabaseSync) {
    this.#statements = new StatementCache(database);
    this.#insert = database.prepare(
      'insert into outbox (tenant, app, sender, at, send) values (?, ?, ?, ?, ?)',
    );
    this.#remove = database.prepare(
      `delete from outbox where number in (select value from json_each(?))
        and tenant = ? and app = ? and sender = ?`,
    );
  }

  /** @param sends their JSON texts */
  add({ tenant, app, session }: SessionAddress, sends: readonly string[], now: number): void {
    for (const send of sends) this.#insert.run(tenant, app, session, now, send);
  }

  remove({ tenant, app, session }: SessionAddress, numbers: readonly number[]): void {
    this.#remove.run(JSON.stringify(numbers), tenant, app, session);
  }

  list({
    scope,
    from,
    olderThanMs,
    limit,
    now,
  }: ReadOperations['sends']['request']): ReadOperations['sends']['reply'] {
    const conditions = new Conditions()
      .equal('tenant', scope.tenant)
      .equal('app', scope.app)
      .equal('sender', from)
      .add('at <= ?', now - olderThanMs);
    return this.#statements
      .get(
        `select tenant, sender, number, at, send from outbox where ${conditions.text} ` +
          'order by number limit ?',
      )
      .all(...conditions.values, limit)
      .map((row) => ({
        ...(JSON.parse(row['send'] as string) as Send),
        tenant: row['tenant'] as string,
        from: row['sender'] as string,
        number: row['number'] as number,
        at: row['at'] as number,
      }));
  }
}
