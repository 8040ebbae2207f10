/**
 * Choice of the turns that may run now, as `TurnOrder` of `stores/turns` makes it, step for step
 * and under the same names: change both. Here others may have locked a ledger. Its turn is passed
 * over, because a call that holds the queue waits for no ledger.
 */

const lookUpFunctions = `
create or replace function {s}.asked_by(_options jsonb, _gone jsonb) returns {s}.asked
  language plpgsql as $adjutant$
declare
  _asked {s}.asked;
begin
  _asked.app := _options->>'app';
  _asked.tenant := _options->>'tenant';
  if _options->'names' is not null then _asked.names := array(
    select jsonb_array_elements_text(_options->'names')); end if;
  _asked.queues := array(select q from jsonb_array_elements_text(
    coalesce(_options->'queues', '["default"]')) with ordinality each(q, place)
    group by q order by min(place));
  _asked.levels := array(select l::int from jsonb_array_elements_text(
    coalesce(_options->'levels', '[0, 1, 2, 3, 4]')) l);
  _asked.queue_limits := coalesce(_options->'queueLimits', '{}');
  _asked.weights := coalesce(_options->'weights', '{}');
  _asked.gone := array(select jsonb_array_elements_text(_gone));
  _asked.busy := '{}';
  return _asked;
end
$adjutant$;

-- A range of one name, and an order that begins with it, leave one index to choose. With an
-- equality another one of the same order could be chosen, and read all turns of other names.
create or replace function {s}.turn_oldest_of_level(_queue text, _level int, _asked {s}.asked)
  returns {s}.turns language plpgsql as $adjutant$
declare
  _turn {s}.turns;
begin
  if _asked.names is null then
    select * into _turn from {s}.turns where app = _asked.app and queue = _queue
      and level = _level and place = 'ready' and (_asked.tenant is null or tenant = _asked.tenant)
      and ledger <> all(_asked.busy) order by since, ledger limit 1;
  else
    select t.* into _turn from unnest(_asked.names || ''::text) names(name), lateral (
      select * from {s}.turns where app = _asked.app and queue = _queue
        and level = _level and place = 'ready' and runnable between name and name
        and (_asked.tenant is null or tenant = _asked.tenant)
        and ledger <> all(_asked.busy) order by runnable, since, ledger limit 1) t
      order by t.since, t.ledger limit 1;
  end if;
  return _turn;
end
$adjutant$;

create or replace function {s}.turn_oldest_of_flow(_flow {s}.flows, _asked {s}.asked)
  returns {s}.turns language plpgsql as $adjutant$
declare
  _turn {s}.turns;
begin
  if _asked.names is null then
    select * into _turn from {s}.turns where app = _flow.app and queue = _flow.queue
      and level = _flow.level and tenant = _flow.tenant and requester = _flow.requester
      and place = 'ready' and ledger <> all(_asked.busy) order by since, ledger limit 1;
  else
    select t.* into _turn from unnest(_asked.names || ''::text) names(name), lateral (
      select * from {s}.turns where app = _flow.app and queue = _flow.queue
        and level = _flow.level and tenant = _flow.tenant and requester = _flow.requester
        and place = 'ready' and runnable between name and name
        and ledger <> all(_asked.busy) order by runnable, since, ledger limit 1) t
      order by t.since, t.ledger limit 1;
  end if;
  return _turn;
end
$adjutant$;

create or replace function {s}.turn_of_least_flow(_queue text, _level int, _asked {s}.asked)
  returns {s}.turns language plpgsql as $adjutant$
declare
  _flow {s}.flows;
  _turn {s}.turns;
begin
  for _flow in select * from {s}.flows where app = _asked.app and queue = _queue
    and level = _level and ready > 0 and (_asked.tenant is null or tenant = _asked.tenant)
    order by virtual_time, tenant, requester
  loop
    _turn := {s}.turn_oldest_of_flow(_flow, _asked);
    exit when _turn.ledger is not null;
  end loop;
  return _turn;
end
$adjutant$;

-- Queues in which all workers together may take another turn.
create or replace function {s}.queues_open(_asked {s}.asked) returns text[]
  language plpgsql as $adjutant$
declare
  _open text[] := '{}';
  _queue text;
begin
  if _asked.queue_limits = '{}' then return _asked.queues; end if;
  foreach _queue in array _asked.queues loop
    continue when {s}.queue_working(_asked.app, _queue)
      >= (_asked.queue_limits->>_queue)::double precision;
    _open := _open || _queue;
  end loop;
  return _open;
end
$adjutant$;

create or replace function {s}.queue_working(_app text, _queue text) returns bigint
  language plpgsql as $adjutant$
begin
  return (select count(*) from {s}.turns where app = _app and place = 'taken'
    and queue = _queue and not is_control);
end
$adjutant$;

create or replace function {s}.pick_count(_app text, _queue text, _level int) returns bigint
  language plpgsql as $adjutant$
declare
  _picks bigint;
begin
  insert into {s}.picks as known values (_app, _queue, _level, 1)
    on conflict (app, queue, level) do update set picks = known.picks + 1
    returning picks into _picks;
  return _picks;
end
$adjutant$;

-- Weight of a turn's flow, by its tenant and its requester.
create or replace function {s}.turn_weight(_turn {s}.turns, _asked {s}.asked)
  returns double precision language plpgsql as $adjutant$
begin
  return coalesce((_asked.weights->'tenants'->>_turn.tenant)::double precision, 1)
    * coalesce((_asked.weights->'requesters'->>_turn.requester)::double precision, 1);
end
$adjutant$;
`;

const choiceFunctions = `
-- Finds a turn whose session nobody has. One that somebody has rests until that lease is over.
create or replace function {s}.turn_free(_queue text, _level int, _asked {s}.asked,
  _of_least_flow boolean, _now double precision) returns {s}.turns
  language plpgsql as $adjutant$
declare
  _turn {s}.turns;
begin
  loop
    if _of_least_flow then _turn := {s}.turn_of_least_flow(_queue, _level, _asked);
    else _turn := {s}.turn_oldest_of_level(_queue, _level, _asked); end if;
    if _turn.ledger is null or not {s}.ledger_is_held(_turn.ledger, _now, _asked.gone) then
      return _turn; end if;
    perform {s}.turn_let_rest(_turn, _now);
  end loop;
end
$adjutant$;

create or replace function {s}.turn_let_rest(_turn {s}.turns, _now double precision) returns void
  language plpgsql as $adjutant$
declare
  _until bigint := (select lease_until from {s}.ledgers where id = _turn.ledger);
begin
  perform {s}.turn_patch(_turn.ledger, _turn.tenant, _turn.app, _turn.session,
    jsonb_build_object('to', 'resting', 'at', coalesce(_until, _now)), _now);
end
$adjutant$;

create or replace function {s}.turn_oldest(_level int, _asked {s}.asked, _now double precision)
  returns {s}.turns language plpgsql as $adjutant$
declare
  _queue text;
  _turn {s}.turns;
  _best {s}.turns;
begin
  foreach _queue in array {s}.queues_open(_asked) loop
    _turn := {s}.turn_free(_queue, _level, _asked, false, _now);
    if _turn.since < coalesce(_best.since, 'infinity') then _best := _turn; end if;
  end loop;
  return _best;
end
$adjutant$;

-- The turn that is next by level, flow and age.
create or replace function {s}.turn_next(_asked {s}.asked, _now double precision)
  returns {s}.turns language plpgsql as $adjutant$
declare
  _queue text;
  _level int;
  _turn {s}.turns;
  _best {s}.turns;
  _score double precision;
begin
  foreach _queue in array {s}.queues_open(_asked) loop
    for _level in 1..4 loop
      continue when _level <> all(_asked.levels);
      _turn := {s}.turn_free(_queue, _level, _asked, false, _now);
      if _turn.since + _level * 300000::double precision < coalesce(_score, 'infinity') then
        _best := _turn;
        _score := _turn.since + _level * 300000::double precision;
      end if;
    end loop;
  end loop;
  if _best.ledger is null then return _best; end if;
  if {s}.pick_count(_asked.app, _best.queue, _best.level) % 32 = 0 or _best.is_front then
    return _best; end if;
  return {s}.turn_free(_best.queue, _best.level, _asked, true, _now);
end
$adjutant$;

-- Sessions without a turn get one for as long as they are worked on. With offset 0 each wanted
-- one is looked up by its id: a join might read all ledgers of the app.
create or replace function {s}.turns_add_due(_asked {s}.asked, _limit bigint,
  _now double precision) returns void language plpgsql as $adjutant$
declare
  _due record;
  _turn {s}.turns;
begin
  for _due in
    select l.id, l.tenant, l.session, min(wanted.since) as since from (
      select id, wake_at as since from {s}.ledgers
        where app = _asked.app and not has_turn and wake_at <= _now::bigint
      union all select i.ledger, i.at from {s}.inbox i where i.wakes and not i.has_turn
      offset 0
    ) wanted, lateral (select * from {s}.ledgers where id = wanted.id offset 0) l
    where l.app = _asked.app and l.session is not null and not l.has_turn
      and (_asked.tenant is null or l.tenant = _asked.tenant)
      and (l.lease_until is null or l.lease_until <= _now or l.owner = any(_asked.gone))
    group by l.id, l.tenant, l.session order by min(wanted.since), l.id limit _limit
  loop
    -- Others may have it, or have given it a turn since.
    perform 1 from {s}.ledgers where id = _due.id and session is not null and not has_turn
      and (lease_until is null or lease_until <= _now or owner = any(_asked.gone))
      for update skip locked;
    continue when not found;
    _turn := {s}.turn_new(_due.id, _due.tenant, _asked.app, _due.session, _now);
    _turn.is_transient := true;
    perform {s}.turn_note(_due.id, true);
    perform {s}.turn_enter(_turn, _due.since, _now);
  end loop;
end
$adjutant$;
`;

const takeFunctions = `
-- Owners of sessions with work whose leases live. The caller finds out which of them are gone.
create or replace function {s}.owners_at_work(_app text, _fixed_now bigint) returns jsonb
  language plpgsql as $adjutant$
declare
  _now bigint := {s}.now_ms(_fixed_now);
begin
  perform {s}.plan_by_index(), {s}.plan_once();
  -- A query for each lease, because a join might read all ledgers; offset 0 makes it once.
  return (select coalesce(jsonb_agg(distinct owner), '[]') from (
    select (select l.owner from {s}.ledgers l where l.id = wanted.id and l.app = _app
      and l.lease_until > _now) as owner
    from (
      select ledger as id from {s}.turns where app = _app and place = 'taken'
      union all select ledger from {s}.turns
        where app = _app and place <> 'taken' and control_at <= _now
      union all select id from {s}.ledgers
        where app = _app and not has_turn and wake_at <= _now
      union all select ledger from {s}.inbox where wakes and not has_turn
    ) wanted offset 0) owners where owner is not null);
end
$adjutant$;

-- Claims the session of a turn. Null when another has locked it, or has it.
create or replace function {s}.turn_claim(_ledger bigint, _options jsonb, _asked {s}.asked,
  _now double precision, _control boolean) returns jsonb language plpgsql as $adjutant$
declare
  _turn {s}.turns;
  _epoch bigint;
  _until double precision := _now + (_options->>'ttl')::double precision;
begin
  perform 1 from {s}.ledgers where id = _ledger for update skip locked;
  if not found then return null; end if;
  select * into _turn from {s}.turns where ledger = _ledger;
  if {s}.ledger_is_held(_ledger, _now, _asked.gone) then
    if not _control then perform {s}.turn_let_rest(_turn, _now); end if;
    return null;
  end if;
  if _control then
    _turn := {s}.turn_take_for_control(_turn, _now, _options->>'ticket');
  else
    _turn := {s}.turn_take(_turn, _now, _options->>'ticket', {s}.turn_weight(_turn, _asked));
  end if;
  update {s}.ledgers set epoch = epoch + 1, owner = _options->>'owner',
    lease_ms = (_options->>'ttl')::bigint, lease_until = _until
    where id = _ledger returning epoch into _epoch;
  return jsonb_build_object('epoch', _epoch, 'until', _until, 'turn', to_jsonb(_turn));
end
$adjutant$;

-- The turns that an earlier call with this ticket has taken.
create or replace function {s}.turns_again(_options jsonb) returns jsonb
  language plpgsql as $adjutant$
begin
  return (select jsonb_agg(jsonb_build_object('epoch', l.epoch, 'until', l.lease_until,
      'turn', to_jsonb(t)) order by t.taken_at, t.ledger)
    from {s}.turns t join {s}.ledgers l on l.id = t.ledger
    where t.app = _options->>'app' and t.place = 'taken' and t.ticket = _options->>'ticket'
      and l.owner = _options->>'owner');
end
$adjutant$;

create or replace function {s}.turns_take_control(_options jsonb, _asked {s}.asked,
  _now double precision) returns jsonb language plpgsql as $adjutant$
declare
  _taken jsonb := '[]';
  _one jsonb;
  _ledger bigint;
begin
  foreach _ledger in array array(select ledger from {s}.turns where app = _asked.app
    and place <> 'taken' and control_at <= _now
    and (_asked.tenant is null or tenant = _asked.tenant)
    and (_asked.names is null or runnable = '' or runnable = any(_asked.names))
    order by control_at, ledger limit 64)
  loop
    _one := {s}.turn_claim(_ledger, _options, _asked, _now, true);
    if _one is not null then _taken := _taken || jsonb_build_array(_one); end if;
  end loop;
  return _taken;
end
$adjutant$;

create or replace function {s}.next_ready_at(_app text) returns double precision
  language plpgsql as $adjutant$
begin
  return least(
    (select ready_at from {s}.turns where app = _app and place = 'resting'
      and ready_at is not null order by ready_at limit 1),
    (select control_at from {s}.turns where app = _app and place <> 'taken'
      and control_at is not null order by control_at limit 1));
end
$adjutant$;

-- Takes turns. The caller knows of the owners in _known which of them are gone. When there is
-- another one at work, nothing is taken and all owners are returned, so that it finds out.
drop function if exists {s}.take(jsonb, jsonb, bigint);
create or replace function {s}.take(_options jsonb, _gone jsonb, _known jsonb, _fixed_now bigint)
  returns jsonb language plpgsql as $adjutant$
declare
  _owners jsonb;
  _asked {s}.asked := {s}.asked_by(_options, _gone);
  _slots bigint := _options->>'slots';
  _realtime_slots bigint := _options->>'realtimeSlots';
  _now bigint;
  _taken jsonb;
  _one jsonb;
  _next {s}.turns;
  _left bigint;
begin
  perform {s}.lock_queue(_asked.app);
  perform {s}.plan_once();
  _owners := {s}.owners_at_work(_asked.app, _fixed_now);
  if not _known @> _owners then return jsonb_build_object('owners', _owners); end if;
  _now := {s}.now_ms(_fixed_now);
  _taken := {s}.turns_again(_options);
  if _taken is not null then
    return jsonb_build_object('taken', _taken, 'nextAt', null, 'now', _now); end if;
  perform {s}.turn_promote(_asked.app, _now, _asked.gone);
  if 'default' = any(_asked.queues) then
    perform {s}.turns_add_due(_asked, _slots + _realtime_slots + 64, _now); end if;
  _taken := {s}.turns_take_control(_options, _asked, _now);
  _left := case when 0 = any(_asked.levels) then _slots + _realtime_slots else 0 end;
  while _left > 0 loop
    _next := {s}.turn_oldest(0, _asked, _now);
    exit when _next.ledger is null;
    _one := {s}.turn_claim(_next.ledger, _options, _asked, _now, false);
    if _one is null then _asked.busy := _asked.busy || _next.ledger;
    else _taken := _taken || jsonb_build_array(_one); _left := _left - 1; end if;
  end loop;
  _left := _slots - greatest(0, {s}.realtime_taken(_taken) - _realtime_slots);
  while _left > 0 loop
    _next := {s}.turn_next(_asked, _now);
    exit when _next.ledger is null;
    _one := {s}.turn_claim(_next.ledger, _options, _asked, _now, false);
    if _one is null then _asked.busy := _asked.busy || _next.ledger;
    else _taken := _taken || jsonb_build_array(_one); _left := _left - 1; end if;
  end loop;
  -- Those that were passed over can be taken as soon as the other transaction has ended.
  return jsonb_build_object('taken', _taken, 'now', _now, 'nextAt', case
    when _asked.busy = '{}' then {s}.next_ready_at(_asked.app)
    else least({s}.next_ready_at(_asked.app), _now + 10) end);
end
$adjutant$;

-- Number of realtime turns among those taken.
create or replace function {s}.realtime_taken(_taken jsonb) returns bigint
  language plpgsql as $adjutant$
begin
  return (select count(*) from jsonb_array_elements(_taken) one
    where one->'turn'->>'level' = '0' and not (one->'turn'->>'is_control')::boolean);
end
$adjutant$;
`;

export const turnOrderFunctions: readonly string[] = [
  lookUpFunctions,
  choiceFunctions,
  takeFunctions,
];
