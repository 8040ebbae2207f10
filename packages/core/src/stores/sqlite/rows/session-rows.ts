import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { DueSession, SessionListing } from '../../../ledger/port.ts';
import { OwnerSurvey } from '../../owner.ts';
import type { ReadOperations } from '../protocol.ts';
import { Conditions, StatementCache } from '../statements.ts';
import { whereRun } from '../tables.ts';

type RequestOf<Name extends keyof ReadOperations> = ReadOperations[Name]['request'];

/** Finds sessions by their columns. */
export class SessionRows {
  readonly #statements: StatementCache;

  constructor(database: DatabaseSync) {
    this.#statements = new StatementCache(database);
  }

  list({
    tenant,
    app,
    limit,
    order,
    id,
    status,
    runnable,
    user,
    before,
  }: RequestOf<'list'>): readonly SessionListing[] {
    const time = order === 'createdAt' ? 'created_at' : 'updated_at';
    const conditions = new Conditions()
      .add('session is not null')
      .equal('tenant', tenant)
      .equal('app', app);
    conditions
      .equal('session', id)
      .equal('status', status)
      .equal('runnable', runnable)
      .equal('user', user);
    if (before !== undefined)
      conditions.add(`(${time}, session) < (?, ?)`, before[order ?? 'updatedAt'], before.id);
    const rows = this.#statements
      .get(`select session as id, seq, created_at as createdAt, updated_at as updatedAt, status,
        title, runnable, user
        from ledgers where ${conditions.text} order by ${time} desc, session desc limit ?`)
      .all(...conditions.values, limit);
    return rows.map(
      (row) =>
        Object.fromEntries(
          Object.entries(row).filter(([, value]) => value !== null),
        ) as unknown as SessionListing,
    );
  }

  ofRun({ tenant, app, run, limit }: RequestOf<'sessionsOfRun'>): readonly string[] {
    return this.#statements
      .get(`select session from ledgers
        where id in (select ledger from events ${whereRun} and path = ?)
          and tenant = ? and app = ? and session is not null
        order by updated_at desc, session desc limit ?`)
      .all(JSON.stringify(run), tenant, app, limit)
      .map(({ session }) => session as string);
  }

  due({ scope, now, limit }: RequestOf<'due'>): readonly DueSession[] {
    const owners = new OwnerSurvey();
    const sessions: DueSession[] = [];
    const conditions = new Conditions()
      .add('session is not null')
      .equal('tenant', scope.tenant)
      .equal('app', scope.app);
    for (const row of this.#dueStatement(conditions.text).iterate(now, ...conditions.values)) {
      const owner = row['owner'] as string | null;
      const leaseUntil = row['leaseUntil'] as number | null;
      if (owner !== null && (leaseUntil ?? 0) > now && !owners.isGone(owner)) continue;
      sessions.push({
        tenant: row['tenant'] as string,
        app: row['app'] as string,
        session: row['session'] as string,
      });
      if (sessions.length === limit) break;
    }
    return sessions;
  }

  #dueStatement(conditions: string): StatementSync {
    return this.#statements.get(`
      select tenant, app, session, owner, lease_until as leaseUntil
      from (
        select id, min(since) as since
        from (select id, wake_at as since from ledgers where wake_at <= ? union all
          select ledger, min(at) from inbox where wakes = 1 group by ledger)
        group by id
      ) join ledgers using (id)
      where ${conditions} order by since, id`);
  }
}
