/** The functions that post to the inbox and settle requests, called by `write`. */
export const inboxFunctions = `
create or replace function {s}.post(_request jsonb, _now bigint) returns jsonb
  language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
  _item jsonb := _request->'item';
  _wakes boolean := coalesce((_request->>'wakes')::boolean, true);
  _refusal jsonb;
  _verdict jsonb;
begin
  select * into _ledger from {s}.ledgers
    where tenant = _request->>'tenant' and app = _request->>'app' and session = _request->>'session'
      for update;
  _refusal := {s}.post_meant(_ledger, _request);
  if _refusal is not null then return _refusal; end if;
  if exists (select from {s}.posted where ledger = _ledger.id and key = _item->>'key') then
    return jsonb_build_object('inboxSeq', _ledger.inbox_seq, 'duplicate', true);
  end if;
  if _request ? 'turn' then
    perform {s}.lock_queue(_ledger.app);
    _verdict := {s}.post_judge(_ledger, _request);
    if _verdict ? 'refused' then return _verdict; end if;
    if _verdict is not null then return {s}.post_to_other(_verdict, _request, _now); end if;
  elsif _ledger.has_turn and _wakes then perform {s}.lock_queue(_ledger.app);
  end if;
  if _item ? 'settles' then
    _refusal := {s}.settle_pending(_ledger,
      jsonb_build_object('requestId', _item->'settles', 'status', 'answered', 'by', _item->'by',
        'fromOutside', true), _now);
    if _refusal is not null then return _refusal; end if;
  end if;
  insert into {s}.posted (ledger, key) values (_ledger.id, _item->>'key');
  update {s}.ledgers set inbox_seq = inbox_seq + 1, opened = coalesce(opened, true)
    where id = _ledger.id;
  perform {s}.write_rows(_ledger.id, _request);
  if _request ? 'turn' then perform {s}.turn_patch(_ledger.id, _ledger.tenant, _ledger.app,
    _ledger.session, {s}.post_behind(_ledger.id, _request->'turn'), _now); end if;
  -- After the turn is made, so that the item is not among those without one even for a moment.
  insert into {s}.inbox (ledger, position, key, lane, actor, at, type, data, settles, wakes,
    has_turn)
    values (_ledger.id, _ledger.inbox_seq + 1, _item->>'key', _item->>'lane', _item->>'by',
      (_item->>'at')::bigint, _item->>'type', _item->>'data',
      _item->>'settles', _wakes,
      (select has_turn from {s}.ledgers where id = _ledger.id));
  if (_ledger.has_turn or _request ? 'turn') and _request->'turn'->>'to' is null then
    perform {s}.turn_posted(_ledger.id, _item->>'lane' = 'control', _wakes, _now); end if;
  return jsonb_build_object('inboxSeq', _ledger.inbox_seq + 1, 'duplicate', false);
end
$adjutant$;

-- The change by a task that another one of its session is before: it only betters the level.
create or replace function {s}.post_behind(_ledger bigint, _patch jsonb) returns jsonb
  language plpgsql as $adjutant$
declare
  _turn {s}.turns;
begin
  select * into _turn from {s}.turns where ledger = _ledger;
  if _turn.run is null or _patch->>'run' is null or _turn.run = _patch->>'run' then
    return _patch; end if;
  return jsonb_build_object('level',
    least(_turn.level, coalesce((_patch->>'level')::int, 1)));
end
$adjutant$;

-- The refusal of a post to a session that is not the one that is meant.
create or replace function {s}.post_meant(_ledger {s}.ledgers, _request jsonb) returns jsonb
  language plpgsql as $adjutant$
declare
  _is_missing boolean := _ledger.opened is null;
  _opens boolean := coalesce((_request->>'open')::boolean, false);
begin
  if _request ? 'birth' and (_is_missing or _ledger.id::text <> _request->>'birth')
    then return '{"refused": "session_gone"}'; end if;
  if _is_missing and _opens and exists (select from {s}.tombstones
    where tenant = _request->>'tenant' and app = _request->>'app'
      and session = _request->>'session') then return '{"refused": "session_gone"}'; end if;
  if _is_missing and not _opens then return '{"refused": "session_not_found"}'; end if;
  return null;
end
$adjutant$;

-- Decides on a post with a turn before anything of it is written. Null: it is posted.
create or replace function {s}.post_judge(_ledger {s}.ledgers, _request jsonb) returns jsonb
  language plpgsql as $adjutant$
declare
  _patch jsonb := _request->'turn';
  _own {s}.turns;
  _other {s}.turns;
begin
  select * into _own from {s}.turns where ledger = _ledger.id;
  if (_patch->>'leave')::boolean and _own.interests > 1 then
    return jsonb_build_object('kind', 'left', 'ledger', _own.ledger); end if;
  if _own.ledger is not null then return null; end if;
  if _patch->>'run' is null and _patch->>'to' is null then return null; end if;
  if _patch->>'coalesceKey' is not null then
    select * into _other from {s}.turns where app = _ledger.app and tenant = _ledger.tenant
      and requester = coalesce(_patch->>'requester', '')
      and coalesce_key = _patch->>'coalesceKey' order by since, ledger limit 1;
    if _other.ledger is not null then
      return jsonb_build_object('kind', 'joined', 'ledger', _other.ledger); end if;
  end if;
  if _request ? 'admit' then return {s}.post_admit(_ledger, _patch, _request->'admit'); end if;
  return null;
end
$adjutant$;

-- The refusal of a turn when as many wait as the limits allow.
create or replace function {s}.post_admit(_ledger {s}.ledgers, _patch jsonb, _admit jsonb)
  returns jsonb language plpgsql as $adjutant$
declare
  _queue text := coalesce(_patch->>'queue', 'default');
  _level int := coalesce((_patch->>'level')::int, 1);
  _requester text := coalesce(_patch->>'requester', '');
  _limit record;
begin
  for _limit in select name, most from (values
    ('level', (_admit->'levels'->>_level)::double precision),
    ('total', (_admit->>'total')::double precision),
    ('tenant', (_admit->>'tenant')::double precision),
    ('requester', (_admit->>'requester')::double precision)) limits(name, most)
    where most is not null
  loop
    if _limit.most <= (select count(*) from (select from {s}.turns
      where app = _ledger.app and queue = _queue and place in ('ready', 'behind', 'out')
        and (_limit.name <> 'level' or level = _level)
        and (_limit.name not in ('tenant', 'requester') or tenant = _ledger.tenant)
        and (_limit.name <> 'requester' or requester = _requester)
      limit ceil(_limit.most)) waiting) then
      return jsonb_build_object('refused', 'queue_full', 'queue', _queue,
        'limit', _limit.name, 'most', _limit.most)
        || case when _limit.name = 'level' then jsonb_build_object('level', _level)
          else '{}' end;
    end if;
  end loop;
  return null;
end
$adjutant$;

-- Carries out a post that adds no item: its turn joins another, or one interest ends. The queue
-- keeps the other turn, and with it its session.
create or replace function {s}.post_to_other(_verdict jsonb, _request jsonb, _now bigint)
  returns jsonb language plpgsql as $adjutant$
declare
  _turn {s}.turns;
  _inbox_seq bigint;
  _is_duplicate boolean;
begin
  select * into _turn from {s}.turns where ledger = (_verdict->>'ledger')::bigint;
  select inbox_seq into _inbox_seq from {s}.ledgers where id = _turn.ledger;
  insert into {s}.posted (ledger, key) values (_turn.ledger, _request->'item'->>'key')
    on conflict do nothing;
  _is_duplicate := not found;
  if _verdict->>'kind' = 'left' then
    update {s}.turns set interests = interests - 1 where ledger = _turn.ledger;
    return jsonb_build_object('inboxSeq', _inbox_seq, 'duplicate', false, 'left', true);
  end if;
  if not _is_duplicate then perform {s}.turn_join(_turn, _request->'turn', _now); end if;
  return jsonb_build_object('inboxSeq', _inbox_seq, 'duplicate', _is_duplicate,
    'joined', jsonb_build_object('session', _turn.session, 'run', _turn.run));
end
$adjutant$;

-- Lets a turn stand for another one too: at the better level and the earlier deadlines.
create or replace function {s}.turn_join(_turn {s}.turns, _patch jsonb, _now bigint)
  returns void language plpgsql as $adjutant$
declare
  _joint jsonb := jsonb_build_object('level',
    least(_turn.level, coalesce((_patch->>'level')::int, 1)));
begin
  update {s}.turns set interests = interests + 1 where ledger = _turn.ledger;
  if _now + (_patch->>'softMs')::double precision < coalesce(_turn.soft_at, 'infinity') then
    _joint := _joint || jsonb_build_object('softMs', _patch->'softMs'); end if;
  if _now + (_patch->>'hardMs')::double precision < coalesce(_turn.hard_at, 'infinity') then
    _joint := _joint || jsonb_build_object('hardMs', _patch->'hardMs'); end if;
  perform {s}.turn_patch(_turn.ledger, _turn.tenant, _turn.app, _turn.session, _joint, _now);
end
$adjutant$;

create or replace function {s}.write_rows(_ledger bigint, _request jsonb) returns void
  language plpgsql as $adjutant$
declare
  _row jsonb;
begin
  if not _request ? 'rows' then return; end if;
  for _row in select r from jsonb_array_elements(_request->'rows') r loop
    if (_row->>'removed')::boolean then
      delete from {s}.listed_rows where tenant = _request->>'tenant'
        and app = _request->>'app' and kind = _row->>'kind' and id = _row->>'id';
    else
      insert into {s}.listed_rows values (_request->>'tenant', _request->>'app', _row->>'kind',
        _row->>'id', _ledger, _row->>'status', (_row->>'at')::double precision,
        (_row->>'expiresAt')::double precision, _row->>'user', _row->>'body')
        on conflict (tenant, app, kind, id) do update set ledger = excluded.ledger,
          status = excluded.status, at = excluded.at, expires_at = excluded.expires_at,
          user_id = excluded.user_id, body = excluded.body;
    end if;
  end loop;
end
$adjutant$;

-- Settles a request that is pending; answers with the refusal when it is not, null when it was.
create or replace function {s}.settle_pending(_ledger {s}.ledgers, _settlement jsonb, _now bigint)
  returns jsonb language plpgsql as $adjutant$
declare
  _known {s}.requests;
begin
  select * into _known from {s}.requests
    where tenant = _ledger.tenant and app = _ledger.app and request_id = _settlement->>'requestId'
      and ledger = _ledger.id for update;
  if _known.ledger is null then return '{"refused": "request_not_found"}'; end if;
  if _known.status <> 'pending' then
    return jsonb_build_object('refused', 'request_settled', 'status', _known.status,
      'by', _known.settled_by);
  end if;
  if (_settlement->>'fromOutside')::boolean and _known.expires_at <= _now then
    return '{"refused": "request_settled", "status": "expired", "by": null}';
  end if;
  update {s}.requests set status = _settlement->>'status', settled_by = _settlement->>'by',
    settled_at = _now
    where tenant = _ledger.tenant and app = _ledger.app and request_id = _settlement->>'requestId';
  return null;
end
$adjutant$;

create or replace function {s}.settle(_request jsonb, _now bigint) returns jsonb
  language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
  _refusal jsonb;
begin
  select * into _ledger from {s}.ledgers
    where tenant = _request->>'tenant' and app = _request->>'app' and session = _request->>'session'
      for update;
  if _ledger.id is null then return '{"refused": "request_not_found"}'; end if;
  _refusal := {s}.settle_pending(_ledger, _request->'settlement', _now);
  if _refusal->>'status' = _request->'settlement'->>'status' then return '{}'; end if;
  return coalesce(_refusal, '{}');
end
$adjutant$;
`;
