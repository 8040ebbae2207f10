/**
 * The step of the schema that makes the tables of turns, sends and listed rows. Turns, flows, rates
 * and picks of an app are changed under the lock of its queue, see `lock_queue`. The columns of
 * `turns` are the members of `Turn`. Instants are `double precision`, because the next place of a
 * rate key may lie between two milliseconds.
 */
export const turnsStep = `
  alter table {s}.inbox add column wakes boolean not null default true;
  comment on column {s}.inbox.wakes is 'false: the item only informs';
  alter table {s}.inbox add column has_turn boolean not null default false;
  comment on column {s}.inbox.has_turn is 'true: its session has a turn, by which it is found';
  create index inbox_without_turn on {s}.inbox (ledger, at) where wakes and not has_turn;
  alter table {s}.ledgers add column opened boolean default false;
  comment on column {s}.ledgers.opened is
    'true: a post made the session; null: the post under way may still be refused';
  alter table {s}.ledgers add column has_turn boolean not null default false;
  create index ledgers_without_turn on {s}.ledgers (app, wake_at)
    where wake_at is not null and not has_turn;

  create table {s}.turns (
    ledger bigint primary key,
    tenant text collate "C" not null,
    app text collate "C" not null,
    session text collate "C" not null,
    queue text collate "C" not null,
    level int not null,
    requester text collate "C" not null,
    runnable text collate "C" not null,
    place text collate "C" not null,
    suspended boolean not null,
    since double precision not null,
    ready_at double precision,
    control_at double precision,
    key_name text collate "C",
    key_limit double precision,
    key_hold text,
    rate_name text collate "C",
    rate_limit double precision,
    rate_per_ms double precision,
    holds boolean not null,
    awaits_rate boolean not null,
    soft_at double precision,
    hard_at double precision,
    soft_left_ms double precision,
    hard_left_ms double precision,
    coalesce_key text collate "C",
    run text,
    interests int not null,
    attempts int not null,
    estimate_ms double precision not null,
    taken_at double precision,
    ticket text,
    is_front boolean not null,
    is_control boolean not null,
    is_transient boolean not null,
    charged_ms double precision not null,
    weight double precision not null
  ) with (fillfactor = 70);
  create index turns_ready on {s}.turns (app, queue, level, since, ledger) where place = 'ready';
  create index turns_ready_of_name on {s}.turns (app, queue, level, runnable, since, ledger)
    where place = 'ready';
  create index turns_ready_of_flow on {s}.turns
    (app, queue, level, tenant, requester, since, ledger) where place = 'ready';
  create index turns_resting on {s}.turns (app, ready_at, ledger)
    where place = 'resting' and ready_at is not null;
  create index turns_taken on {s}.turns (app, taken_at, ledger) where place = 'taken';
  create index turns_control on {s}.turns (app, control_at, ledger)
    where control_at is not null and place <> 'taken';
  create index turns_held on {s}.turns (app, key_name, since, ledger)
    where holds and key_name is not null;
  create index turns_ready_of_key on {s}.turns (app, key_name)
    where place = 'ready' and not holds and key_name is not null;
  create index turns_behind_key on {s}.turns (app, key_name, since, ledger)
    where place = 'behind' and key_name is not null;
  create index turns_behind_rate on {s}.turns (app, rate_name, since, ledger)
    where place = 'behind' and rate_name is not null;
  create index turns_next_of_rate on {s}.turns (app, rate_name)
    where rate_name is not null and (place = 'ready' or awaits_rate);
  create index turns_waiting on {s}.turns (app, queue, level)
    where place in ('ready', 'behind', 'out');
  create index turns_waiting_of_tenant on {s}.turns (app, queue, tenant, requester)
    where place in ('ready', 'behind', 'out');
  create index turns_coalesced on {s}.turns
    (app, tenant, requester, coalesce_key, since, ledger) where coalesce_key is not null;
  create index turns_by_age on {s}.turns (tenant, app, since, ledger);

  create table {s}.flows (
    app text collate "C" not null,
    queue text collate "C" not null,
    level int not null,
    tenant text collate "C" not null,
    requester text collate "C" not null,
    virtual_time double precision not null,
    ready int not null,
    primary key (app, queue, level, tenant, requester)
  ) with (fillfactor = 70);
  create index flows_busy on {s}.flows (app, queue, level, virtual_time, tenant, requester)
    where ready > 0;
  create table {s}.rates (
    app text collate "C" not null,
    name text collate "C" not null,
    at double precision not null,
    primary key (app, name)
  );
  create table {s}.picks (
    app text collate "C" not null,
    queue text collate "C" not null,
    level int not null,
    picks bigint not null,
    primary key (app, queue, level)
  );
  create type {s}.asked as (
    app text,
    tenant text,
    names text[],
    queues text[],
    levels int[],
    queue_limits jsonb,
    weights jsonb,
    gone text[],
    busy bigint[]
  );
  comment on type {s}.asked is 'options of a call of take, and the ledgers that others have locked';

  create table {s}.outbox (
    number bigint generated always as identity primary key,
    tenant text collate "C" not null,
    app text collate "C" not null,
    sender text collate "C" not null,
    at bigint not null,
    send text not null
  );
  create index outbox_by_sender on {s}.outbox (tenant, app, sender, number);
  create index outbox_by_app on {s}.outbox (app, number);
  create index outbox_by_tenant on {s}.outbox (tenant, app, number);

  create table {s}.listed_rows (
    tenant text collate "C" not null,
    app text collate "C" not null,
    kind text collate "C" not null,
    id text collate "C" not null,
    ledger bigint not null,
    status text collate "C" not null,
    at double precision not null,
    expires_at double precision,
    user_id text collate "C",
    body text not null,
    primary key (tenant, app, kind, id)
  );
  create index listed_rows_by_time on {s}.listed_rows (tenant, app, kind, at, id);
  create index listed_rows_by_status on {s}.listed_rows (tenant, app, kind, status, at, id);
  create index listed_rows_by_user on {s}.listed_rows (tenant, app, kind, user_id, at, id)
    where user_id is not null;
  create index listed_rows_by_ledger on {s}.listed_rows (ledger);

  create table {s}.tombstones (
    tenant text collate "C" not null,
    app text collate "C" not null,
    session text collate "C" not null,
    primary key (tenant, app, session)
  );
  comment on table {s}.tombstones is
    'deleted sessions that a post had made: none makes them again';
  `;
