/**
 * The steps from an empty file to the present schema; the version of a file is the number of steps that it has seen.
 * A step is never edited once it was released: files that have seen it exist.
 */
export const migrations: readonly string[] = [
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
];

/** "Adju" in ASCII: marks a file as ours. */
export const applicationId = 0x41646a75;
