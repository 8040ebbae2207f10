/**
 * The functions that replace rows which follow from a ledger and its inbox. `turn_replace` and
 * `turn_seat` are `TurnChanges.replace` of `stores/turns`, step for step: change both.
 */
export const replaceFunctions = `
create or replace function {s}.replace_rows(_request jsonb, _now bigint) returns jsonb
  language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
  _summary jsonb := _request->'summary';
begin
  select * into _ledger from {s}.ledgers
    where tenant = _request->>'tenant' and app = _request->>'app' and session = _request->>'session'
      for update;
  if _ledger.opened is null then return '{"refused": "session_not_found"}'; end if;
  if _ledger.lease_until > _now and _ledger.owner <> coalesce(_request->>'gone', '')
  then return jsonb_build_object('refused', 'session_busy', 'owner', _ledger.owner,
    'until', _ledger.lease_until); end if;
  if (_ledger.seq, _ledger.epoch, _ledger.inbox_seq) is distinct from ((_request->>'seq')::bigint,
    (_request->>'epoch')::bigint, (_request->>'inboxSeq')::bigint)
    then return '{"replaced": false}'; end if;
  if _request ? 'turn' then perform {s}.lock_queue(_ledger.app); end if;
  -- A writer whose lease is over is fenced off.
  if _ledger.owner is not null then
    update {s}.ledgers set epoch = epoch + 1, owner = null, lease_ms = null, lease_until = null
      where id = _ledger.id; end if;
  if _summary is not null then
    update {s}.ledgers set status = _summary->>'status', title = _summary->>'title',
      runnable = _summary->>'runnable', user_id = _summary->>'user' where id = _ledger.id; end if;
  if _request ? 'requests' then perform {s}.replace_requests(_ledger, _request->'requests'); end if;
  if _request ? 'rows' then
    delete from {s}.listed_rows where ledger = _ledger.id
      and kind in (select k from jsonb_array_elements_text(_request->'kinds') k);
    perform {s}.write_rows(_ledger.id, _request);
  end if;
  if _request ? 'turn' then perform {s}.turn_replace(_ledger, _request->'turn', _now); end if;
  return '{"replaced": true}';
end
$adjutant$;

create or replace function {s}.replace_requests(_ledger {s}.ledgers, _requests jsonb) returns void
  language plpgsql as $adjutant$
begin
  delete from {s}.requests where ledger = _ledger.id;
  insert into {s}.requests (tenant, app, request_id, ledger, kind, user_id, operation_id,
    created_at, expires_at, request, status, settled_by, settled_at)
    select _ledger.tenant, _ledger.app, q->>'requestId', _ledger.id, q->>'kind', q->>'user',
      q->>'operationId', (q->>'createdAt')::bigint, (q->>'expiresAt')::bigint, q->>'request',
      q->>'status', q->>'settledBy', (q->>'settledAt')::bigint
    from jsonb_array_elements(_requests) q
    on conflict (tenant, app, request_id) do nothing;
end
$adjutant$;

create or replace function {s}.turn_replace(_ledger {s}.ledgers, _rebuilt jsonb,
  _now double precision) returns void language plpgsql as $adjutant$
declare
  _turn {s}.turns;
  _before {s}.turns;
begin
  select * into _turn from {s}.turns where ledger = _ledger.id;
  if jsonb_typeof(_rebuilt) = 'null' then
    -- Its row may have been lost: the session is found by what is due from now on.
    if _turn.ledger is null then perform {s}.turn_note(_ledger.id, false);
    elsif not _turn.is_transient then perform {s}.turn_remove(_turn, _now); end if;
    return;
  end if;
  if _turn.ledger is null then
    _turn := {s}.turn_new(_ledger.id, _ledger.tenant, _ledger.app, _ledger.session, _now);
    perform {s}.turn_note(_ledger.id, true);
  end if;
  if _turn.place = 'ready' then perform {s}.flow_leave(_turn); end if;
  _turn := {s}.flow_correct_lost(_turn, _now);
  _turn.ticket := null;
  if _turn.place = 'taken' then _turn := {s}.turn_give_back(_turn, _now); end if;
  _before := _turn;
  _turn := {s}.turn_rebuilt(_turn, _rebuilt);
  perform {s}.turn_seat(_turn, _rebuilt->>'rests', _now);
  perform {s}.turn_fill(_before, _now);
  if (_rebuilt->>'toFront')::boolean then
    perform {s}.turn_patch(_turn.ledger, _turn.tenant, _turn.app, _turn.session,
      '{"toFront": true}', _now); end if;
  perform {s}.flow_recount(_turn);
  perform {s}.flow_recount(_before);
end
$adjutant$;

-- Members of a turn that is rebuilt, before it has its place. When it was last taken and what its
-- flow was charged are no settings: they stay.
create or replace function {s}.turn_rebuilt(_turn {s}.turns, _rebuilt jsonb) returns {s}.turns
  language plpgsql as $adjutant$
declare
  _since double precision := _rebuilt->>'since';
  _fresh {s}.turns := {s}.turn_new(_turn.ledger, _turn.tenant, _turn.app, _turn.session, _since);
  _passes boolean := not _rebuilt ? 'rests';
begin
  _fresh := {s}.turn_set(_fresh, _rebuilt - array['softMs', 'hardMs'], _since);
  _fresh.taken_at := _turn.taken_at;
  _fresh.charged_ms := _turn.charged_ms;
  _fresh.weight := _turn.weight;
  _fresh.holds := (_rebuilt->>'holds')::boolean;
  _fresh.interests := (_rebuilt->>'interests')::int;
  if _passes then
    _fresh.soft_at := _since + (_rebuilt->>'softMs')::double precision;
    _fresh.hard_at := _since + (_rebuilt->>'hardMs')::double precision;
  else
    _fresh.soft_left_ms := _rebuilt->>'softMs';
    _fresh.hard_left_ms := _rebuilt->>'hardMs';
  end if;
  _fresh.control_at := least((_rebuilt->>'controlAt')::double precision, _fresh.hard_at);
  return _fresh;
end
$adjutant$;

-- Brings a rebuilt turn to its place; of its keys the oldest turns get the places.
create or replace function {s}.turn_seat(_turn {s}.turns, _rests text, _now double precision)
  returns void language plpgsql as $adjutant$
declare
  _other {s}.turns;
  _until double precision;
begin
  perform {s}.turn_save(_turn);
  for _other in select * from {s}.turns where app = _turn.app and key_name = _turn.key_name
      and place = 'ready' and not holds
    union select * from {s}.turns where app = _turn.app and rate_name = _turn.rate_name
      and (place = 'ready' or awaits_rate) loop
    if _other.place = 'ready' then perform {s}.flow_leave(_other); end if;
    _other.place := 'behind'; _other.awaits_rate := false; _other.ready_at := null;
    perform {s}.turn_save(_other);
  end loop;
  if _rests is not null then
    if _rests = 'until_wake' then select wake_at into _until from {s}.ledgers
      where id = _turn.ledger;
    elsif _rests <> 'never' then _until := _rests; end if;
    perform {s}.turn_rest(_turn, _until, _now);
  elsif _turn.suspended or _turn.holds or (_turn.key_name is null and _turn.rate_name is null) then
    perform {s}.turn_enter(_turn, _turn.since, _now);
  else
    _turn.place := 'behind';
    perform {s}.turn_save(_turn);
  end if;
  perform {s}.turn_fill(_turn, _now);
end
$adjutant$;

-- Counts the ready turns of a flow anew: rows may have been lost.
create or replace function {s}.flow_recount(_turn {s}.turns) returns void
  language plpgsql as $adjutant$
begin
  update {s}.flows set ready = (select count(*) from {s}.turns t where t.app = _turn.app
      and t.queue = _turn.queue and t.level = _turn.level and t.tenant = _turn.tenant
      and t.requester = _turn.requester and t.place = 'ready')
    where app = _turn.app and queue = _turn.queue and level = _turn.level
      and tenant = _turn.tenant and requester = _turn.requester;
end
$adjutant$;
`;
