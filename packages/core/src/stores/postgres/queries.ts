import type { JsonValue } from '../../base/json.ts';
import type {
  DueSession,
  FoldSnapshot,
  InboxEntry,
  LedgerHead,
  ListOptions,
  RequestDraft,
  RequestFilter,
  RequestRow,
  SessionListing,
  SharedValue,
} from '../../ledger/port.ts';
import { OwnerSurvey } from '../owner.ts';
import { Conditions } from './conditions.ts';
import type { Database } from './database.ts';
import type { StoredScope } from './encoding.ts';
import { fromStorable, toStorable } from './storable-text.ts';
import { whereRun } from './tables.ts';
import { storedWhole } from './whole.ts';

const bigints = 'seq::text, epoch::text, inbox_seq::text';

export async function queryHead(
  database: Database,
  { tenant, app }: StoredScope,
  session: string,
): Promise<LedgerHead | undefined> {
  const [row] = await database.query(
    `select ${bigints} from {s}.ledgers where tenant = $1 and app = $2 and session = $3`,
    [tenant, app, toStorable(session)],
  );
  return row === undefined
    ? undefined
    : { seq: Number(row['seq']), epoch: Number(row['epoch']), inboxSeq: Number(row['inbox_seq']) };
}

/** Returns the number of the ledger, which no other one gets. */
export async function queryBirth(
  database: Database,
  { tenant, app }: StoredScope,
  session: string,
): Promise<string | undefined> {
  const [row] = await database.query(
    'select id::text from {s}.ledgers where tenant = $1 and app = $2 and session = $3',
    [tenant, app, toStorable(session)],
  );
  return row === undefined ? undefined : String(row['id']);
}

/** Returns the inbox; `undefined` when the session does not exist. */
export async function queryInbox(
  database: Database,
  { tenant, app }: StoredScope,
  session: string,
): Promise<readonly InboxEntry[] | undefined> {
  const rows = await database.query(
    `select i.position::text, i.key, i.lane, i.actor, i.at::text, i.type, i.data, i.settles
      from {s}.ledgers l left join {s}.inbox i on i.ledger = l.id
      where l.tenant = $1 and l.app = $2 and l.session = $3 order by i.lane = 'input', i.position`,
    [tenant, app, toStorable(session)],
  );
  if (rows.length === 0) return undefined;
  return rows.filter(({ position }) => position !== null).map(inboxEntry);
}

function inboxEntry(row: Record<string, unknown>): InboxEntry {
  return {
    key: fromStorable(String(row['key'])),
    lane: row['lane'],
    by: fromStorable(String(row['actor'])),
    at: Number(row['at']),
    type: row['type'],
    data: JSON.parse(String(row['data'])),
    ...(row['settles'] === null ? {} : { settles: fromStorable(String(row['settles'])) }),
    position: Number(row['position']),
  } as InboxEntry;
}

export async function queryShared(
  database: Database,
  { tenant, app }: StoredScope,
  scope: string,
  scopeId: string,
): Promise<Readonly<Record<string, SharedValue>>> {
  const rows = await database.query(
    'select key, value, version::text from {s}.shared where tenant = $1 and app = $2 and ' +
      'scope = $3 and scope_id = $4',
    [tenant, app, toStorable(scope), toStorable(scopeId)],
  );
  return Object.fromEntries(
    rows.map(({ key, value, version }) => {
      // A key that was deleted has no value.
      const parsed = value === null ? undefined : (JSON.parse(String(value)) as JsonValue);
      return [fromStorable(String(key)), { value: parsed, version: Number(version) }];
    }),
  );
}

export async function querySnapshot(
  database: Database,
  address: readonly [tenant: string, app: string, session: string],
  key: string,
  upTo: number,
): Promise<FoldSnapshot | undefined> {
  const text = await database.call('select {s}.get_snapshot($1, $2, $3, $4, $5::bigint)::text', [
    ...address,
    toStorable(key),
    storedWhole(upTo),
  ]);
  if (typeof text !== 'string') return undefined;
  const { seq, value } = JSON.parse(text) as { readonly seq: number; readonly value: string };
  return { key, seq, value: JSON.parse(value) as JsonValue };
}

export async function queryListings(
  database: Database,
  { tenant, app }: StoredScope,
  options: ListOptions,
  limit: number,
): Promise<readonly SessionListing[]> {
  const { order = 'updatedAt', id, status, runnable, user, before } = options;
  const time = order === 'createdAt' ? 'created_at' : 'updated_at';
  const conditions = new Conditions()
    .add('session is not null')
    .add('tenant = $', tenant)
    .add('app = $', app);
  conditions
    .equal('session', id)
    .equal('status', status)
    .equal('runnable', runnable)
    .equal('user_id', user);
  if (before !== undefined)
    conditions.add(`(${time}, session) < ($::bigint, $)`, before[order], toStorable(before.id));
  // Without its table the name is that of the answer: a text, which no index orders.
  const rows = await database.query(
    `select session, seq::text, created_at::text, updated_at::text, status, title, runnable, user_id
      from {s}.ledgers where ${conditions.text}
      order by ledgers.${time} desc, session desc limit ${limit}`,
    conditions.values,
  );
  return rows.map(listing);
}

export async function querySessionsOfRun(
  database: Database,
  { tenant, app }: StoredScope,
  run: string,
  limit: number,
): Promise<readonly string[]> {
  const rows = await database.query(
    `select session from {s}.ledgers
      where id in (select ledger from {s}.events ${whereRun} and path = $3)
        and tenant = $1 and app = $2 and session is not null
      order by updated_at desc, session desc limit ${limit}`,
    [tenant, app, JSON.stringify(run)],
  );
  return rows.map(({ session }) => fromStorable(String(session)));
}

function listing(row: Record<string, unknown>): SessionListing {
  const texts = { title: row['title'], runnable: row['runnable'], user: row['user_id'] };
  return {
    id: fromStorable(String(row['session'])),
    seq: Number(row['seq']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    status: row['status'] as SessionListing['status'],
    ...Object.fromEntries(
      Object.entries(texts).flatMap(([name, text]) =>
        typeof text === 'string' ? [[name, fromStorable(text)]] : [],
      ),
    ),
  };
}

export async function queryRequests(
  database: Database,
  { tenant, app }: StoredScope,
  filter: RequestFilter,
  limit: number,
): Promise<readonly RequestRow[]> {
  const { requestId, operationId, session, user, status, kinds, after } = filter;
  const conditions = new Conditions().add('tenant = $', tenant).add('app = $', app);
  conditions
    .equal('request_id', requestId)
    .equal('operation_id', operationId)
    .equal('user_id', user);
  if (session !== undefined) {
    const ledger = 'select id from {s}.ledgers where tenant = $ and app = $ and session = $';
    conditions.add(`ledger = (${ledger})`, tenant, app, toStorable(session));
  }
  // As a literal, so that the index of pending requests is used.
  if (status === 'pending') conditions.add("status = 'pending'");
  else conditions.equal('status', status);
  if (kinds !== undefined)
    conditions.add('kind in (select jsonb_array_elements_text($::jsonb))', JSON.stringify(kinds));
  if (after !== undefined)
    conditions.add(
      '(created_at, request_id) > ($::bigint, $)',
      after.createdAt,
      toStorable(after.requestId),
    );
  const rows = await database.query(
    'select request, status, settled_by, settled_at::text from {s}.requests where ' +
      `${conditions.text} order by created_at, request_id limit ${limit}`,
    conditions.values,
  );
  return rows.map(requestRow);
}

function requestRow(row: Record<string, unknown>): RequestRow {
  return {
    ...(JSON.parse(String(row['request'])) as RequestDraft),
    status: row['status'],
    ...(row['settled_by'] === null
      ? {}
      : {
          settledBy: fromStorable(String(row['settled_by'])),
          settledAt: Number(row['settled_at']),
        }),
  } as RequestRow;
}

/** @param scope all tenants and apps when left out */
export async function queryDue(
  database: Database,
  scope: Partial<StoredScope>,
  limit: number,
  fixedNow: number | null,
): Promise<readonly DueSession[]> {
  const holders = await queryDueRows(
    database,
    scope,
    'distinct owner',
    'owner is not null and lease_until > clock.now',
    [],
    '',
    fixedNow,
  );
  const owners = new OwnerSurvey();
  const gone = holders
    .map(({ owner }) => String(owner))
    .filter((owner) => owners.isGone(fromStorable(owner)));
  const free =
    '(lease_until is null or lease_until <= clock.now or owner in (select ' +
    'jsonb_array_elements_text($::jsonb)))';
  const order = `order by since, id limit ${limit}`;
  const rows = await queryDueRows(
    database,
    scope,
    'tenant, app, session',
    free,
    [JSON.stringify(gone)],
    order,
    fixedNow,
  );
  return rows.map(({ tenant, app, session }) => {
    return {
      tenant: fromStorable(String(tenant)),
      app: fromStorable(String(app)),
      session: fromStorable(String(session)),
    };
  });
}

function queryDueRows(
  database: Database,
  scope: Partial<StoredScope>,
  columns: string,
  condition: string,
  values: readonly unknown[],
  order: string,
  fixedNow: number | null,
): Promise<readonly Record<string, unknown>[]> {
  const clock = new Conditions().add('{s}.now_ms($::bigint)', fixedNow);
  const conditions = new Conditions();
  conditions.values.push(...clock.values);
  conditions.add('session is not null').add(condition, ...values);
  for (const column of ['tenant', 'app'] as const)
    if (scope[column] !== undefined) conditions.add(`${column} = $`, scope[column]);
  return database.query(
    `with clock as materialized (select ${clock.text} as now),
      wanted as (
        select id, min(since) as since from (
          select id, wake_at as since from {s}.ledgers, clock where wake_at <= clock.now
          union all select ledger, min(at) from {s}.inbox where wakes group by ledger
        ) each group by id
      )
      select ${columns} from wanted join {s}.ledgers using (id), clock
        where ${conditions.text} ${order}`,
    conditions.values,
  );
}
