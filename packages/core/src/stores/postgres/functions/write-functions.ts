import { inboxFunctions } from './inbox-functions.ts';
import { lockFunctions } from './lock-functions.ts';
import { replaceFunctions } from './replace-functions.ts';

/**
 * The functions that change ledgers. Each call is one statement and so one transaction and one
 * round trip, which needs nothing of the connection. A request is checked whole before its first
 * write. When it does not fit, the reply is `{"refused": …}`, and the transaction stays usable for
 * the others of its group. Rows are locked in one order, so that groups cannot wait for each other:
 * ledgers by name, then queues by app, then shared scopes by name, then blobs.
 */

const clockFunction = `
create or replace function {s}.now_ms(_fixed_now bigint) returns bigint
  language sql volatile as $adjutant$
  select coalesce(_fixed_now, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
$adjutant$;
`;

/**
 * Performs the requests of a group in order. Returns one reply for each, and true in `heard` when a
 * listener other than `_own` waits.
 */
const groupFunction = `
create or replace function {s}.write(_requests jsonb, _fixed_now bigint, _own text) returns jsonb
  language plpgsql as $adjutant$
declare
  _request jsonb;
  _replies jsonb := '[]';
  _now bigint;
begin
  if jsonb_array_length(_requests) > 1 or (_requests->0->>'open')::boolean then
    perform {s}.lock_ledgers(_requests, _fixed_now);
    perform {s}.lock_scopes(_requests);
  end if;
  for _request in select r from jsonb_array_elements(_requests) r loop
    -- Read for each: a request may have waited for locks.
    _now := {s}.now_ms(_fixed_now);
    _replies := _replies || jsonb_build_array(
      jsonb_build_object('now', _now) || case _request->>'op'
      when 'append' then {s}.append(_request, _now)
      when 'claim' then {s}.claim(_request, _now)
      when 'renew' then {s}.renew(_request, _now)
      when 'release' then {s}.release(_request, _now)
      when 'post' then {s}.post(_request, _now)
      when 'settle' then {s}.settle(_request, _now)
      when 'replace' then {s}.replace_rows(_request, _now)
    end);
  end loop;
  perform {s}.forget_drafts(_requests);
  return jsonb_build_object('replies', _replies, 'heard',
    exists (select from {s}.listeners where until > {s}.now_ms(null) and id <> _own));
end
$adjutant$;
`;

const appendFunctions = `
create or replace function {s}.append(_request jsonb, _now bigint) returns jsonb
  language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
  _expected bigint := (_request->>'seq')::bigint;
  _events jsonb := _request->'events';
  _last bigint := _expected + jsonb_array_length(_events);
  _refusal jsonb;
  _summary jsonb := _request->'summary';
begin
  select * into _ledger from {s}.ledgers
    where tenant = _request->>'tenant' and app = _request->>'app' and session = _request->>'session'
      for update;
  if _ledger.opened is null then return {s}.conflict(0, 0); end if;
  if _ledger.epoch <> (_request->>'epoch')::bigint
    then return {s}.conflict(_ledger.seq, _ledger.epoch); end if;
  if _ledger.seq <> _expected then
    if not {s}.landed_before(_ledger.id, _events)
      then return {s}.conflict(_ledger.seq, _ledger.epoch); end if;
    return jsonb_build_object('seq', _last, 'epoch', _ledger.epoch, 'inboxSeq', _ledger.inbox_seq);
  end if;
  if _request ? 'turn' or (_request ? 'wakeAt' and _ledger.has_turn)
    then perform {s}.lock_queue(_ledger.app); end if;
  if _request ? 'shared' or _request ? 'blobs' then
    _refusal := {s}.check_references(_request);
    if _refusal is not null then return _refusal; end if;
  end if;
  insert into {s}.events (ledger, seq, at, type, actor, path, body)
    select _ledger.id, (e->>0)::bigint, (e->>1)::bigint, (e->>2)::int, e->>3, e->>4, e->>5
      from jsonb_array_elements(_events) e;
  update {s}.ledgers set
    seq = _last,
    updated_at = coalesce((_events->-1->>1)::bigint, updated_at),
    lease_until = _now + lease_ms,
    wake_at = case when _request ? 'wakeAt' then (_request->>'wakeAt')::bigint else wake_at end,
    status = case when _summary is null then status else _summary->>'status' end,
    title = case when _summary is null then title else _summary->>'title' end,
    runnable = case when _summary is null then runnable else _summary->>'runnable' end,
    user_id = case when _summary is null then user_id else _summary->>'user' end
    where id = _ledger.id;
  if _request ? 'more' then perform {s}.write_rest(_ledger.id, _last, _request, _now); end if;
  if _request ? 'turn' then perform {s}.turn_patch(_ledger.id, _ledger.tenant, _ledger.app,
    _ledger.session, _request->'turn', _now); end if;
  if _request ? 'wakeAt' and (_ledger.has_turn or _request ? 'turn')
    then perform {s}.turn_woken(_ledger.id, (_request->>'wakeAt')::bigint); end if;
  return jsonb_build_object('seq', _last, 'epoch', _ledger.epoch, 'inboxSeq', _ledger.inbox_seq);
end
$adjutant$;

create or replace function {s}.conflict(_seq bigint, _epoch bigint) returns jsonb
  language sql immutable as $adjutant$
  select jsonb_build_object('refused', 'ledger_conflict', 'seq', coalesce(_seq, 0),
    'epoch', coalesce(_epoch, 0))
$adjutant$;

-- True when the ledger holds these events in their place. A body begins with the id of its event.
create or replace function {s}.landed_before(_ledger bigint, _events jsonb) returns boolean
  language sql stable as $adjutant$
  select jsonb_array_length(_events) > 0 and not exists (
    select from jsonb_array_elements(_events) e
    left join {s}.events stored on stored.ledger = _ledger and stored.seq = (e->>0)::bigint
    where substring(stored.body from '^"(?:[^"\\\\]|\\\\.)*"')
      is distinct from substring(e->>5 from '^"(?:[^"\\\\]|\\\\.)*"')
  )
$adjutant$;

create or replace function {s}.write_rest(_ledger bigint, _last bigint, _request jsonb, _now bigint)
  returns void language plpgsql as $adjutant$
declare
  _write jsonb;
begin
  if _request ? 'consumes' then
    delete from {s}.inbox where ledger = _ledger
      and position in (select c::bigint from jsonb_array_elements_text(_request->'consumes') c);
  end if;
  if _request ? 'blobs' then
    insert into {s}.blob_references (ledger, address, seq)
      select _ledger, b, least((_request->>'seq')::bigint + 1, _last)
        from jsonb_array_elements_text(_request->'blobs') b on conflict do nothing;
  end if;
  if _request ? 'shared' then
    for _write in select w from jsonb_array_elements(_request->'shared') w loop
      insert into {s}.shared as known (tenant, app, scope, scope_id, key, value, version)
        values (_request->>'tenant', _request->>'app', _write->>'scope', _write->>'scopeId',
          _write->>'key', _write->>'value', 1)
        on conflict (tenant, app, scope, scope_id, key) do update set value = excluded.value,
          version = known.version + 1;
    end loop;
  end if;
  if _request ? 'requests' then
    insert into {s}.requests (tenant, app, request_id, ledger, kind, user_id, operation_id,
      created_at, expires_at, request, status)
      select _request->>'tenant', _request->>'app', q->>'requestId', _ledger, q->>'kind',
        q->>'user', q->>'operationId',
        (q->>'createdAt')::bigint, (q->>'expiresAt')::bigint, q->>'request', 'pending'
      from jsonb_array_elements(_request->'requests') q
      on conflict (tenant, app, request_id) do nothing;
  end if;
  if _request ? 'settles' then
    update {s}.requests known set status = q->>'status', settled_by = q->>'by', settled_at = _now
      from jsonb_array_elements(_request->'settles') q
      where known.tenant = _request->>'tenant' and known.app = _request->>'app'
        and known.request_id = q->>'requestId'
        and known.ledger = _ledger and known.status = 'pending';
  end if;
  if _request ? 'sends' then
    insert into {s}.outbox (tenant, app, sender, at, send)
      select _request->>'tenant', _request->>'app', _request->>'session', _now, send
        from jsonb_array_elements_text(_request->'sends') with ordinality each(send, place)
        order by place;
  end if;
  perform {s}.write_rows(_ledger, _request);
end
$adjutant$;
`;

const checkFunctions = `
-- The refusal of a batch whose blobs or shared values are missing or have changed; null otherwise.
create or replace function {s}.check_references(_request jsonb) returns jsonb
  language plpgsql as $adjutant$
declare
  _write jsonb;
  _name text;
  _version bigint;
  _deleted boolean;
  _known jsonb := '{}';
  _stale jsonb := '[]';
  _missing text;
begin
  if _request ? 'blobs' then
    perform 1 from {s}.blobs where address in (
      select b from jsonb_array_elements_text(_request->'blobs') b) order by address for key share;
    select b into _missing from jsonb_array_elements_text(_request->'blobs') b where not exists (
      select from {s}.blobs where address = b and tenant = _request->>'tenant'
        and app = _request->>'app') limit 1;
    if _missing is not null then return jsonb_build_object('refused', 'blob_missing',
      'address', _missing); end if;
  end if;
  if not _request ? 'shared' then return null; end if;
  perform {s}.lock_scopes(jsonb_build_array(_request));
  for _write in select w from jsonb_array_elements(_request->'shared') w loop
    _name := jsonb_build_array(_write->'scope', _write->'scopeId', _write->'key')::text;
    if _known ? _name then
      _version := (_known->_name->>0)::bigint;
      _deleted := (_known->_name->>1)::boolean;
    else
      select version, value is null into _version, _deleted from {s}.shared
        where tenant = _request->>'tenant' and app = _request->>'app'
          and scope = _write->>'scope' and scope_id = _write->>'scopeId' and key = _write->>'key';
    end if;
    _version := coalesce(_version, 0);
    if (case when coalesce(_deleted, true) then 0 else _version end)
      <> (_write->>'baseVersion')::bigint then
      _stale := _stale || jsonb_build_array(
        jsonb_build_array(_write->'scope', _write->'scopeId', _write->'key'));
    end if;
    _known := _known || jsonb_build_object(
      _name, jsonb_build_array(_version + 1, _write->>'value' is null));
  end loop;
  if _stale = '[]' then return null; end if;
  return jsonb_build_object('refused', 'state_conflict', 'stale', _stale);
end
$adjutant$;
`;

const ownershipFunctions = `
create or replace function {s}.claim(_request jsonb, _now bigint) returns jsonb
  language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
  _until bigint := _now + (_request->>'ttl')::bigint;
  _refusal jsonb;
begin
  -- Again when it was deleted in between.
  while _ledger.id is null loop
    perform {s}.ensure_ledger(_request->>'tenant', _request->>'app', _request->>'session', _now,
      false);
    select * into _ledger from {s}.ledgers
      where tenant = _request->>'tenant' and app = _request->>'app'
        and session = _request->>'session' for update;
  end loop;
  -- 'gone' is an owner whose process the caller has found to be dead.
  if _ledger.lease_until > _now and _ledger.owner
    not in (_request->>'owner', coalesce(_request->>'gone', ''))
    and not (_request->>'force')::boolean
  then return jsonb_build_object('refused', 'session_busy', 'owner', _ledger.owner,
    'until', _ledger.lease_until); end if;
  if _ledger.has_turn then
    perform {s}.lock_queue(_ledger.app);
    _refusal := {s}.turn_claimed(_ledger.id, _now);
    if _refusal is not null then return _refusal; end if;
  end if;
  update {s}.ledgers set opened = coalesce(opened, false), epoch = epoch + 1,
    owner = _request->>'owner',
    lease_ms = (_request->>'ttl')::bigint, lease_until = _until
    where id = _ledger.id;
  return jsonb_build_object('epoch', _ledger.epoch + 1, 'seq', _ledger.seq,
    'inboxSeq', _ledger.inbox_seq, 'until', _until);
end
$adjutant$;

create or replace function {s}.renew(_request jsonb, _now bigint) returns jsonb
  language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
begin
  select * into _ledger from {s}.ledgers
    where tenant = _request->>'tenant' and app = _request->>'app' and session = _request->>'session'
      for update;
  if _ledger.opened is null then return {s}.conflict(0, 0); end if;
  if _ledger.epoch <> (_request->>'epoch')::bigint
    then return {s}.conflict(_ledger.seq, _ledger.epoch); end if;
  update {s}.ledgers set lease_until = _now + lease_ms where id = _ledger.id;
  return jsonb_build_object('seq', _ledger.seq, 'epoch', _ledger.epoch,
    'inboxSeq', _ledger.inbox_seq);
end
$adjutant$;

drop function if exists {s}.release(jsonb);
create or replace function {s}.release(_request jsonb, _now bigint) returns jsonb
  language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
  _kept boolean;
begin
  select * into _ledger from {s}.ledgers
    where tenant = _request->>'tenant' and app = _request->>'app' and session = _request->>'session'
      for update;
  if _ledger.opened is null
    then return jsonb_build_object('released', true, 'inboxSeq', 0); end if;
  if _ledger.epoch <> (_request->>'epoch')::bigint
    then return jsonb_build_object('released', true, 'inboxSeq', _ledger.inbox_seq); end if;
  _kept := coalesce(_ledger.inbox_seq > (_request->>'inboxSeq')::bigint, false);
  if not _kept then
    update {s}.ledgers set owner = null, lease_ms = null, lease_until = null
      where id = _ledger.id;
    if _ledger.has_turn or _request ? 'turn' then
      perform {s}.lock_queue(_ledger.app);
      perform {s}.turn_released(_ledger, _request->'turn', _now);
    end if;
  end if;
  return jsonb_build_object('released', not _kept, 'inboxSeq', _ledger.inbox_seq);
end
$adjutant$;
`;

const listenerFunction = `
create or replace function {s}.listen(_id text, _ms bigint) returns void
  language plpgsql as $adjutant$
begin
  -- What a crash of the server may take is made again within a second.
  perform set_config('synchronous_commit', 'off', true);
  delete from {s}.listeners where until < {s}.now_ms(null) - 60000;
  insert into {s}.listeners (id, until) values (_id, {s}.now_ms(null) + _ms) on conflict (id)
    do update set until = excluded.until;
end
$adjutant$;
`;

export const writeFunctions: readonly string[] = [
  clockFunction,
  lockFunctions,
  groupFunction,
  appendFunctions,
  checkFunctions,
  ownershipFunctions,
  inboxFunctions,
  replaceFunctions,
  listenerFunction,
];
