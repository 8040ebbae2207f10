import { turnsStep } from './turns/tables.ts';

/**
 * The step of the schema that makes the table for the secrets of blob addresses. Existing blobs
 * keep their addresses.
 */
const addressKeysStep = `
  create table {s}.address_keys (
    tenant text collate "C" not null,
    app text collate "C" not null,
    key bytea not null,
    primary key (tenant, app)
  );
  comment on table {s}.address_keys is 'secrets that addresses of blobs are made with';
  `;

/** Condition of events that begin a run: of the type `invocation_start`, at the path of its id. */
export const whereRun = "where type = 10 and strpos(path, '/') = 0";

/**
 * The steps from an empty schema to the present one; the version of a schema is the number of steps
 * that it has seen. `{s}` stands for the quoted name of the schema. A step is never edited once it
 * was released: databases that have seen it exist.
 *
 * Names are compared byte by byte (collation "C"), as everywhere else. Values that may hold what a
 * text of PostgreSQL cannot (zero bytes, halves of characters) are JSON texts or written with
 * `toStorable`.
 */
export const migrations: readonly string[] = [
  `
  create table {s}.ledgers (
    id bigint generated always as identity primary key,
    tenant text collate "C" not null,
    app text collate "C" not null,
    session text collate "C",
    parent bigint,
    base bigint not null,
    seq bigint not null,
    epoch bigint not null,
    inbox_seq bigint not null,
    owner text,
    lease_ms bigint,
    lease_until bigint,
    wake_at bigint,
    created_at bigint not null,
    updated_at bigint not null,
    status text not null,
    title text,
    runnable text,
    user_id text collate "C",
    unique (tenant, app, session)
  ) with (fillfactor = 70);
  comment on column {s}.ledgers.session is
    'null: deleted, and kept for the forks that share its events';
  comment on column {s}.ledgers.base is 'events up to this one are those of the parent';
  create index ledgers_by_update on {s}.ledgers (tenant, app, updated_at, session)
    where session is not null;
  create index ledgers_by_creation on {s}.ledgers (tenant, app, created_at, session)
    where session is not null;
  create index ledgers_by_user on {s}.ledgers (tenant, app, user_id, updated_at, session)
    where session is not null and user_id is not null;
  create index ledgers_by_wake on {s}.ledgers (wake_at) where wake_at is not null;
  create index ledgers_by_parent on {s}.ledgers (parent) where parent is not null;

  create table {s}.events (
    ledger bigint not null,
    seq bigint not null,
    at bigint not null,
    type int not null,
    actor text not null,
    path text not null,
    body text not null,
    primary key (ledger, seq)
  );

  create table {s}.inbox (
    ledger bigint not null,
    position bigint not null,
    key text collate "C" not null,
    lane text not null,
    actor text not null,
    at bigint not null,
    type text not null,
    data text not null,
    settles text,
    primary key (ledger, position)
  );
  create table {s}.posted (
    ledger bigint not null,
    key text collate "C" not null,
    primary key (ledger, key)
  );

  create table {s}.requests (
    tenant text collate "C" not null,
    app text collate "C" not null,
    request_id text collate "C" not null,
    ledger bigint not null,
    kind text not null,
    user_id text collate "C",
    operation_id text collate "C",
    created_at bigint not null,
    expires_at bigint,
    request text not null,
    status text not null,
    settled_by text,
    settled_at bigint,
    primary key (tenant, app, request_id)
  );
  create index requests_by_creation on {s}.requests (tenant, app, created_at, request_id);
  create index requests_pending on {s}.requests (tenant, app, user_id, created_at, request_id)
    where status = 'pending';
  create index requests_by_operation on {s}.requests (tenant, app, operation_id)
    where operation_id is not null;
  create index requests_by_ledger on {s}.requests (ledger);

  create table {s}.blobs (
    address text collate "C" primary key,
    tenant text collate "C" not null,
    app text collate "C" not null,
    put_at bigint not null,
    bytes bytea not null
  );
  alter table {s}.blobs alter column bytes set storage external;
  create index blobs_by_put on {s}.blobs (put_at);
  create table {s}.blob_references (
    ledger bigint not null,
    address text collate "C" not null references {s}.blobs,
    seq bigint not null,
    primary key (ledger, address)
  );
  comment on column {s}.blob_references.seq is
    'the first event that refers to the blob comes not before this one';
  create index blob_references_by_address on {s}.blob_references (address);

  create table {s}.shared_scopes (
    tenant text collate "C" not null,
    app text collate "C" not null,
    scope text collate "C" not null,
    scope_id text collate "C" not null,
    primary key (tenant, app, scope, scope_id)
  );
  comment on table {s}.shared_scopes is 'locked by whoever writes to a scope';
  create table {s}.shared (
    tenant text collate "C" not null,
    app text collate "C" not null,
    scope text collate "C" not null,
    scope_id text collate "C" not null,
    key text collate "C" not null,
    value text,
    version bigint not null,
    primary key (tenant, app, scope, scope_id, key)
  );

  create table {s}.deletions (
    tenant text collate "C" not null,
    app text collate "C" not null,
    first_epoch bigint not null,
    primary key (tenant, app)
  );
  comment on table {s}.deletions is
    'no new ledger begins under a lower epoch, so that the writer of a deleted one '
    'finds none that looks like its own';

  create table {s}.listeners (
    id text primary key,
    until bigint not null
  );
  comment on table {s}.listeners is
    'stores that wait for notifications; nobody is told what nobody hears';

  create table {s}.snapshots (
    ledger bigint not null,
    key text collate "C" not null,
    seq bigint not null,
    value text not null,
    primary key (ledger, key, seq)
  );
  `,
  addressKeysStep,
  // This step only replaces functions: their replies have the time.
  'null;',
  // A hash takes paths of any length.
  `
  create index events_by_run on {s}.events using hash (path) ${whereRun};
  `,
  turnsStep,
  // Turns are chosen without a look at all sessions, or at those of other names.
  `
  create index turns_ready_of_flow_by_name on {s}.turns
    (app, queue, level, tenant, requester, runnable, since, ledger) where place = 'ready';
  `,
  // This step only replaces functions: a lost worker is charged for no longer than it had the turn.
  'null;',
  // Functions: a look for turns reads only sessions that are due, and not all of the app.
  // Statistics: without any, a session was looked up by an index of all sessions of its tenant,
  // until the first analysis of a table that had been filled meanwhile. These are of sessions that
  // go at once. One of their two tenants is listed as common, so that another one counts as common
  // too.
  `
  if not exists (select from {s}.ledgers) then
    insert into {s}.ledgers (id, tenant, app, session, base, seq, epoch, inbox_seq, created_at,
      updated_at, status) overriding system value
      select -i, i % 2, i % 2, i, 0, 0, 0, 0, i, i, 'active' from generate_series(1, 1000) i;
    alter table {s}.ledgers alter tenant set statistics 1, alter app set statistics 1;
    analyze {s}.ledgers;
    alter table {s}.ledgers alter tenant set statistics -1, alter app set statistics -1;
    delete from {s}.ledgers where id < 0;
  end if;
  `,
];
