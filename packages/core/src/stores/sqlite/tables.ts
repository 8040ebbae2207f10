import type { DatabaseSync } from 'node:sqlite';
import { clockTable } from './file-time.ts';
import { addressKeysStep } from './rows/address-key-rows.ts';
import { giveRowsIds } from './rows/rows-by-id.ts';
import { turnStep } from './rows/turn-step.ts';

/** Statements, or a function that is called within the transaction of all steps. */
export type Migration = string | ((database: DatabaseSync) => void);

/** Conditions of indexes. Their text is part of the file: SQLite keeps a definition as written. */
const whereNotDeleted = 'where session is not null';
const whereUser = `${whereNotDeleted} and user is not null`;
const wherePending = "where status = 'pending'";
/** Condition of events whose path is the id of their run, written out. */
export const whereRun = "where typeof(path) = 'text' and instr(path, '/') = 0";
const whereOperation = 'where operation is not null';

/**
 * The steps from an empty file to the present schema; the version of a file is the number of steps
 * that it has seen. A step is never edited once it was released: files that have seen it exist.
 */
export const migrations: readonly Migration[] = [
  `
  create table ledgers (
    id integer primary key,
    tenant text not null,
    app text not null,
    session text not null,
    parent integer,
    base integer not null,
    seq integer not null,
    epoch integer not null,
    inbox_seq integer not null,
    owner text,
    lease_ms integer,
    lease_until integer,
    created_at integer not null,
    updated_at integer not null,
    status text not null,
    title text,
    runnable text,
    unique (tenant, app, session)
  ) strict;
  create index ledgers_by_time on ledgers (tenant, app, updated_at, session);
  create table events (
    ledger integer not null,
    seq integer not null,
    at integer not null,
    type integer not null,
    actor any not null,
    path any not null,
    body text not null,
    primary key (ledger, seq)
  ) strict, without rowid;
  create table inbox (
    ledger integer not null,
    position integer not null,
    key text not null,
    lane text not null,
    actor text not null,
    at integer not null,
    type text not null,
    data text not null,
    primary key (ledger, position)
  ) strict, without rowid;
  create table posted (
    ledger integer not null,
    key text not null,
    primary key (ledger, key)
  ) strict, without rowid;
  create table blobs (
    address text not null unique,
    tenant text not null,
    app text not null,
    put_at integer not null,
    bytes blob not null
  ) strict;
  create table blob_references (
    ledger integer not null,
    address text not null,
    primary key (ledger, address)
  ) strict, without rowid;
  create table shared (
    tenant text not null,
    app text not null,
    scope text not null,
    scope_id text not null,
    key text not null,
    value text,
    version integer not null,
    primary key (tenant, app, scope, scope_id, key)
  ) strict, without rowid;
  `,
  `
  alter table ledgers add column wake_at integer;
  create index ledgers_by_wake on ledgers (wake_at) where wake_at is not null;
  `,
  // A ledger without a session was deleted and holds what forks share; its number is never given
  // again, because workers remember numbers.
  `
  create table ledgers_with_deleted (
    id integer primary key autoincrement,
    tenant text not null,
    app text not null,
    session text,
    parent integer,
    base integer not null,
    seq integer not null,
    epoch integer not null,
    inbox_seq integer not null,
    owner text,
    lease_ms integer,
    lease_until integer,
    created_at integer not null,
    updated_at integer not null,
    status text not null,
    title text,
    runnable text,
    user text,
    wake_at integer,
    purge integer,
    unique (tenant, app, session)
  ) strict;
  insert into ledgers_with_deleted
    (id, tenant, app, session, parent, base, seq, epoch, inbox_seq, owner,
      lease_ms, lease_until, created_at, updated_at, status, title, runnable, wake_at)
    select id, tenant, app, session, parent, base, seq, epoch, inbox_seq, owner,
      lease_ms, lease_until, created_at, updated_at, status, title, runnable, wake_at
    from ledgers;
  drop table ledgers;
  alter table ledgers_with_deleted rename to ledgers;
  create index ledgers_by_time on ledgers (tenant, app, updated_at, session) ${whereNotDeleted};
  create index ledgers_by_creation on ledgers (tenant, app, created_at, session) ${whereNotDeleted};
  create index ledgers_by_user on ledgers (tenant, app, user, updated_at, session) ${whereUser};
  create index ledgers_by_wake on ledgers (wake_at) where wake_at is not null;
  create index ledgers_by_parent on ledgers (parent, base) where parent is not null;
  create index ledgers_to_purge on ledgers (id) where purge is not null;
  create table first_epochs (
    tenant text not null,
    app text not null,
    epoch integer not null,
    primary key (tenant, app)
  ) strict, without rowid;
  create table requests (
    tenant text not null,
    app text not null,
    request text not null,
    ledger integer not null,
    kind text not null,
    user text,
    operation text,
    created_at integer not null,
    expires_at integer,
    status text not null,
    settled_by text,
    settled_at integer,
    body text not null,
    primary key (tenant, app, request)
  ) strict, without rowid;
  create index requests_by_time on requests (tenant, app, created_at, request);
  create index requests_pending on requests (tenant, app, created_at, request) ${wherePending};
  create index requests_by_ledger on requests (ledger);
  create index requests_by_operation on requests (tenant, app, operation) ${whereOperation};
  alter table inbox add column settles text;
  create table snapshots (
    ledger integer not null,
    key text not null,
    seq integer not null,
    value text not null,
    primary key (ledger, key, seq)
  ) strict, without rowid;
  alter table blob_references add column seq integer not null default 0;
  create index blob_references_by_address on blob_references (address);
  create index blobs_by_time on blobs (put_at);
  `,
  giveRowsIds,
  clockTable,
  addressKeysStep,
  // The first event of a run in a ledger has its path as text; later ones refer to that event.
  `create index events_by_run on events (path) ${whereRun};`,
  turnStep,
];

/** "Adju" in ASCII: marks a file as ours. */
export const applicationId = 0x41646a75;
