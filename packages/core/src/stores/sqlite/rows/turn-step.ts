/**
 * Conditions of the partial indexes. Their text is part of the file: SQLite keeps a definition as
 * written. Queries repeat them word for word, so that SQLite knows that the index has all rows that
 * are asked for.
 */
export const turnConditions = {
  ready: "place = 'ready'",
  waiting: "place in ('ready', 'behind', 'out')",
  resting: "place = 'resting' and ready_at is not null",
  taken: "place = 'taken'",
  control: "control_at is not null and place <> 'taken'",
  held: 'key_name is not null and holds = 1',
  readyOfKey: "key_name is not null and place = 'ready' and holds = 0",
  behindKey: "key_name is not null and place = 'behind'",
  behindRate: "rate_name is not null and place = 'behind'",
  nextOfRate: "rate_name is not null and (place = 'ready' or awaits_rate = 1)",
  joinable: 'coalesce_key is not null',
  busy: 'ready > 0',
  withoutTurn: 'wakes = 1 and has_turn = 0',
  wakesWithoutTurn: 'wake_at is not null and has_turn = 0',
} as const;

const is = turnConditions;
const oldest = 'since, ledger';
const level = 'app, queue, level';

const indexesOfTurns = `
  create index turns_by_time on turns (tenant, app, ${oldest});
  create index turns_ready on turns (${level}, ${oldest}) where ${is.ready};
  create index turns_ready_of_name on turns (${level}, runnable, ${oldest}) where ${is.ready};
  create index turns_ready_of_tenant on turns (${level}, tenant, ${oldest}) where ${is.ready};
  create index turns_of_flow on turns (${level}, tenant, requester, ${oldest}) where ${is.ready};
  create index turns_of_flow_by_name on turns (${level}, tenant, requester, runnable, ${oldest})
    where ${is.ready};
  create index turns_waiting on turns (${level}) where ${is.waiting};
  create index turns_waiting_of_tenant on turns (app, queue, tenant, requester)
    where ${is.waiting};
  create index turns_resting on turns (app, ready_at, ledger) where ${is.resting};
  create index turns_taken on turns (app, taken_at, ledger) where ${is.taken};
  create index turns_control on turns (app, control_at, ledger) where ${is.control};
  create index turns_held on turns (app, key_name, ${oldest}) where ${is.held};
  create index turns_ready_of_key on turns (app, key_name) where ${is.readyOfKey};
  create index turns_behind_key on turns (app, key_name, ${oldest}) where ${is.behindKey};
  create index turns_behind_rate on turns (app, rate_name, ${oldest}) where ${is.behindRate};
  create index turns_next_of_rate on turns (app, rate_name) where ${is.nextOfRate};
  create index turns_joinable on turns (app, tenant, requester, coalesce_key, ${oldest})
    where ${is.joinable};
`;

/**
 * The tables of turns, and of what lies beside them. Instants and durations are real: a rate gives
 * instants between two milliseconds. A session and its items know if it has a turn, so that due
 * sessions without one are found among any number of others.
 */
export const turnStep = `
  create table turns (
    ledger integer primary key,
    tenant text not null,
    app text not null,
    session text not null,
    queue text not null,
    level integer not null,
    requester text not null,
    runnable text not null,
    place text not null,
    suspended integer not null,
    since real not null,
    ready_at real,
    control_at real,
    key_name text,
    key_limit real,
    key_hold text,
    rate_name text,
    rate_limit real,
    rate_per_ms real,
    holds integer not null,
    awaits_rate integer not null,
    soft_at real,
    hard_at real,
    soft_left_ms real,
    hard_left_ms real,
    coalesce_key text,
    run text,
    interests integer not null,
    attempts integer not null,
    estimate_ms real not null,
    taken_at real,
    ticket text,
    is_front integer not null,
    is_control integer not null,
    is_transient integer not null,
    charged_ms real not null,
    weight real not null
  ) strict;
  ${indexesOfTurns}
  create table flows (
    app text not null,
    queue text not null,
    level integer not null,
    tenant text not null,
    requester text not null,
    virtual_time real not null,
    ready integer not null,
    primary key (app, queue, level, tenant, requester)
  ) strict, without rowid;
  create index flows_busy on flows (${level}, virtual_time, tenant, requester) where ${is.busy};
  create index flows_busy_of_tenant on flows (${level}, tenant, virtual_time, requester)
    where ${is.busy};
  create table picks (
    app text not null,
    queue text not null,
    level integer not null,
    picks integer not null,
    primary key (app, queue, level)
  ) strict, without rowid;
  create table rates (
    app text not null,
    rate text not null,
    at real not null,
    primary key (app, rate)
  ) strict, without rowid;
  create table outbox (
    number integer primary key autoincrement,
    tenant text not null,
    app text not null,
    sender text not null,
    at integer not null,
    send text not null
  ) strict;
  create index outbox_of_sender on outbox (tenant, app, sender, number);
  create index outbox_of_app on outbox (app, number);
  create table listed_rows (
    tenant text not null,
    app text not null,
    kind text not null,
    id text not null,
    ledger integer not null,
    status text not null,
    at real not null,
    expires_at real,
    user text,
    body text not null,
    primary key (tenant, app, kind, id)
  ) strict;
  create index listed_rows_by_time on listed_rows (tenant, app, kind, at, id);
  create index listed_rows_by_status on listed_rows (tenant, app, kind, status, at, id);
  create index listed_rows_by_user on listed_rows (tenant, app, kind, user, at, id)
    where user is not null;
  create index listed_rows_by_ledger on listed_rows (ledger, kind, at, id);
  create table tombstones (
    tenant text not null,
    app text not null,
    session text not null,
    primary key (tenant, app, session)
  ) strict, without rowid;
  alter table inbox add column wakes integer not null default 1;
  alter table inbox add column has_turn integer not null default 0;
  create index inbox_without_turn on inbox (ledger, at) where ${is.withoutTurn};
  alter table ledgers add column opened integer not null default 0;
  alter table ledgers add column has_turn integer not null default 0;
  create index ledgers_to_wake_without_turn on ledgers (wake_at) where ${is.wakesWithoutTurn};
`;
