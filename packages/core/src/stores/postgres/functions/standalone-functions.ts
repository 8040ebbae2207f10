/** Functions for forks, deletion and snapshots: each call stands alone, as one statement. */

const forkFunction = `
create or replace function {s}.fork(_tenant text, _app text, _session text, _at bigint,
  _new_session text, _first jsonb, _fixed_now bigint)
returns jsonb language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
  _holder {s}.ledgers;
  _now bigint;
  _id bigint;
begin
  select * into _ledger from {s}.ledgers where tenant = _tenant and app = _app
    and session = _session for update;
  if _ledger.id is null then return '{"refused": "session_not_found"}'; end if;
  if _at not between 0 and _ledger.seq
    then return jsonb_build_object('refused', 'fork_point', 'seq', _ledger.seq); end if;
  -- A fork of a shared prefix hangs on the ledger that holds the events, so chains grow only where
  -- ledgers did.
  _holder := _ledger;
  while _holder.parent is not null and _at <= _holder.base loop
    select * into _holder from {s}.ledgers where id = _holder.parent;
  end loop;
  _now := {s}.now_ms(_fixed_now);
  insert into {s}.ledgers (tenant, app, session, parent, base, seq, epoch, inbox_seq, created_at,
    updated_at, status, title, runnable, user_id)
    values (_tenant, _app, _new_session, _holder.id, _at, _at + jsonb_array_length(_first),
      {s}.first_epoch(_tenant, _app), 0,
      _now, coalesce((_first->-1->>1)::bigint, _now),
      case when _at = _ledger.seq then _ledger.status else 'active' end, _ledger.title,
        _ledger.runnable, _ledger.user_id)
    on conflict do nothing returning id into _id;
  if not found then return '{"refused": "session_exists"}'; end if;
  insert into {s}.events (ledger, seq, at, type, actor, path, body)
    select _id, (e->>0)::bigint, (e->>1)::bigint, (e->>2)::int, e->>3, e->>4, e->>5
      from jsonb_array_elements(_first) e;
  return '{}';
end
$adjutant$;
`;

const deleteFunctions = `
create or replace function {s}.first_epoch(_tenant text, _app text) returns bigint
  language plpgsql stable as $adjutant$
begin
  return coalesce((select d.first_epoch from {s}.deletions d
    where d.tenant = _tenant and d.app = _app), 0);
end
$adjutant$;

-- A ledger and all that hang on it, and on these.
create or replace function {s}.family(_ledger bigint) returns bigint[]
  language sql stable as $adjutant$
  with recursive family as (
    select _ledger as id
    union all
    select l.id from {s}.ledgers l join family f on l.parent = f.id
  )
  select array_agg(id order by id desc) from family
$adjutant$;

drop function if exists {s}.delete_session(text, text, text, boolean);
create or replace function {s}.delete_session(_tenant text, _app text, _session text,
  _erase boolean, _fixed_now bigint default null)
  returns jsonb language plpgsql as $adjutant$
declare
  _id bigint;
  _ids bigint[];
  _found bigint[];
  _left text[];
begin
  select id into _id from {s}.ledgers where tenant = _tenant and app = _app and session = _session;
  if _id is null then return '{"refused": "session_not_found"}'; end if;
  _found := case when _erase then {s}.family(_id) else array[_id] end;
  -- A fork may be made while the locks are waited for.
  while _ids is distinct from _found loop
    _ids := _found;
    perform 1 from {s}.ledgers where id = any(_ids) and session is not null order by session
      for update;
    _found := case when _erase then {s}.family(_id) else array[_id] end;
  end loop;
  if not exists (select from {s}.ledgers where id = _id and session is not null)
    then return '{"refused": "session_not_found"}'; end if;
  perform {s}.forget_turns(_app, _ids, _fixed_now);
  insert into {s}.tombstones select tenant, app, session from {s}.ledgers
    where id = any(_ids) and session is not null and opened on conflict do nothing;
  insert into {s}.deletions as known (tenant, app, first_epoch)
    select _tenant, _app, max(epoch) + 1 from {s}.ledgers where id = any(_ids)
    on conflict (tenant, app) do update
      set first_epoch = greatest(known.first_epoch, excluded.first_epoch);
  delete from {s}.listed_rows where ledger = any(_ids);
  delete from {s}.inbox where ledger = any(_ids);
  delete from {s}.posted where ledger = any(_ids);
  delete from {s}.requests where ledger = any(_ids);
  delete from {s}.snapshots where ledger = any(_ids);
  update {s}.ledgers set session = null, owner = null, lease_ms = null, lease_until = null,
    wake_at = null, title = null, runnable = null, user_id = null where id = any(_ids);
  foreach _id in array _ids loop _left := _left || {s}.prune(_id); end loop;
  perform {s}.remove_unused(_left);
  return '{}';
end
$adjutant$;

create or replace function {s}.forget_turns(_app text, _ids bigint[], _fixed_now bigint)
  returns void language plpgsql as $adjutant$
declare
  _turn {s}.turns;
begin
  if not exists (select from {s}.ledgers where id = any(_ids) and has_turn) then return; end if;
  perform {s}.lock_queue(_app);
  for _turn in select * from {s}.turns where ledger = any(_ids) order by ledger desc loop
    -- As it is after the others were ended.
    select * into _turn from {s}.turns where ledger = _turn.ledger;
    perform {s}.turn_remove(_turn, {s}.now_ms(_fixed_now));
  end loop;
end
$adjutant$;

-- Removes those of some blobs that nothing refers to any more. Locked first and looked at again
-- then: an append that refers to a blob locks it too.
create or replace function {s}.remove_unused(_addresses text[]) returns void
  language plpgsql as $adjutant$
begin
  if _addresses is null then return; end if;
  perform 1 from {s}.blobs b where address = any(_addresses)
    and not exists (select from {s}.blob_references r where r.address = b.address)
    order by address for update;
  delete from {s}.blobs b where address = any(_addresses)
    and not exists (select from {s}.blob_references r where r.address = b.address);
end
$adjutant$;

-- Removes what a deleted ledger holds and no fork shares, and then the same of the ledger that it
-- hung on. Returns the blobs that were referred to.
drop function if exists {s}.prune(bigint);
create function {s}.prune(_id bigint) returns text[] language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
  _last bigint;
  _left text[];
begin
  while _id is not null loop
    select * into _ledger from {s}.ledgers where id = _id for update;
    if _ledger.id is null or _ledger.session is not null then return _left; end if;
    select greatest(_ledger.base, max(base)) into _last from {s}.ledgers where parent = _id;
    delete from {s}.events where ledger = _id and seq > _last;
    _left := _left || {s}.forget_references(_id, _last);
    if _last > _ledger.base then
      update {s}.ledgers set seq = _last where id = _id;
      return _left;
    end if;
    _left := _left || {s}.forget_references(_id, -1);
    delete from {s}.ledgers where id = _id;
    _id := _ledger.parent;
  end loop;
  return _left;
end
$adjutant$;

create or replace function {s}.forget_references(_ledger bigint, _after bigint) returns text[]
  language sql as $adjutant$
  with forgotten as (delete from {s}.blob_references where ledger = _ledger and seq > _after
    returning address)
  select array_agg(address) from forgotten
$adjutant$;
`;

const blobFunctions = `
create or replace function {s}.sweep_blobs(_older_than_ms bigint, _fixed_now bigint) returns bigint
  language plpgsql as $adjutant$
declare
  _addresses text[];
  _removed bigint;
begin
  -- Locked first and looked at again then: an append that refers to a blob locks it too.
  select array_agg(address) into _addresses from (
    select address from {s}.blobs b
    where put_at < {s}.now_ms(_fixed_now) - _older_than_ms
      and not exists (select from {s}.blob_references r where r.address = b.address)
    order by address limit 1000 for update skip locked
  ) candidates;
  delete from {s}.blobs b where address = any(_addresses)
    and put_at < {s}.now_ms(_fixed_now) - _older_than_ms
    and not exists (select from {s}.blob_references r where r.address = b.address);
  get diagnostics _removed = row_count;
  return _removed;
end
$adjutant$;
`;

const snapshotFunctions = `
create or replace function {s}.put_snapshot(_tenant text, _app text, _session text, _key text,
  _seq bigint, _value text)
returns jsonb language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
begin
  select * into _ledger from {s}.ledgers where tenant = _tenant and app = _app
    and session = _session for key share;
  if _ledger.id is null then return '{"refused": "session_not_found"}'; end if;
  if _seq not between 0 and _ledger.seq
    then return jsonb_build_object('refused', 'snapshot_place', 'seq', _ledger.seq); end if;
  insert into {s}.snapshots (ledger, key, seq, value) values (_ledger.id, _key, _seq, _value)
    on conflict (ledger, key, seq) do update set value = excluded.value;
  return '{}';
end
$adjutant$;

create or replace function {s}.get_snapshot(_tenant text, _app text, _session text, _key text,
  _up_to bigint)
returns jsonb language plpgsql stable as $adjutant$
declare
  _ledger {s}.ledgers;
  _limit bigint := _up_to;
  _best {s}.snapshots;
  _found {s}.snapshots;
begin
  select * into _ledger from {s}.ledgers where tenant = _tenant and app = _app
    and session = _session;
  while _ledger.id is not null loop
    select * into _found from {s}.snapshots where ledger = _ledger.id and key = _key
      and seq <= _limit order by seq desc limit 1;
    if _found.ledger is not null
      and (_best.ledger is null or _found.seq > _best.seq) then _best := _found; end if;
    _limit := least(_limit, _ledger.base);
    select * into _ledger from {s}.ledgers where id = _ledger.parent;
  end loop;
  if _best.ledger is null then return null; end if;
  return jsonb_build_object('seq', _best.seq, 'value', _best.value);
end
$adjutant$;
`;

export const standaloneFunctions: readonly string[] = [
  forkFunction,
  deleteFunctions,
  blobFunctions,
  snapshotFunctions,
];
