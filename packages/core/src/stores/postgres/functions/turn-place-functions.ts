/**
 * Deadlines of turns, shares of flows and places of keys: `DeadlineClock`, `FlowCharges` and the
 * keys of `TurnChanges` of `stores/turns`, step for step and under the same names: change both.
 */

const deadlineFunctions = `
create or replace function {s}.deadlines_set(_turn {s}.turns, _patch jsonb, _now double precision)
  returns {s}.turns language plpgsql as $adjutant$
declare
  _passes boolean := _turn.place <> 'resting';
  _soft double precision := _patch->>'softMs';
  _hard double precision := _patch->>'hardMs';
begin
  if _soft is not null then
    _turn.soft_at := case when _passes then _now + _soft end;
    _turn.soft_left_ms := case when _passes then null else _soft end;
  end if;
  if _hard is not null then
    _turn.hard_at := case when _passes then _now + _hard end;
    _turn.hard_left_ms := case when _passes then null else _hard end;
  end if;
  if _passes then _turn.control_at := least(_turn.control_at, _turn.hard_at); end if;
  return _turn;
end
$adjutant$;

create or replace function {s}.deadlines_run(_turn {s}.turns, _now double precision)
  returns {s}.turns language plpgsql as $adjutant$
begin
  if _turn.soft_left_ms is not null then _turn.soft_at := _now + _turn.soft_left_ms; end if;
  if _turn.hard_left_ms is not null then _turn.hard_at := _now + _turn.hard_left_ms; end if;
  _turn.soft_left_ms := null;
  _turn.hard_left_ms := null;
  _turn.control_at := least(_turn.control_at, _turn.hard_at);
  return _turn;
end
$adjutant$;

create or replace function {s}.deadlines_pause(_turn {s}.turns, _now double precision)
  returns {s}.turns language plpgsql as $adjutant$
begin
  if _turn.soft_at is not null then
    _turn.soft_left_ms := greatest(0, _turn.soft_at - _now); end if;
  if _turn.hard_at is not null then
    _turn.hard_left_ms := greatest(0, _turn.hard_at - _now); end if;
  if _turn.control_at = _turn.hard_at then _turn.control_at := null; end if;
  _turn.soft_at := null;
  _turn.hard_at := null;
  return _turn;
end
$adjutant$;
`;

const flowFunctions = `
create or replace function {s}.flow_enter(_turn {s}.turns) returns void
  language plpgsql as $adjutant$
declare
  _flow {s}.flows;
  _least double precision;
begin
  select * into _flow from {s}.flows where app = _turn.app and queue = _turn.queue
    and level = _turn.level and tenant = _turn.tenant and requester = _turn.requester;
  if coalesce(_flow.ready, 0) = 0 then
    select virtual_time into _least from {s}.flows where app = _turn.app and queue = _turn.queue
      and level = _turn.level and ready > 0 order by virtual_time, tenant, requester limit 1;
    _flow.virtual_time := greatest(coalesce(_flow.virtual_time, 0), coalesce(_least, 0));
  end if;
  insert into {s}.flows values (_turn.app, _turn.queue, _turn.level, _turn.tenant,
    _turn.requester, _flow.virtual_time, coalesce(_flow.ready, 0) + 1)
    on conflict (app, queue, level, tenant, requester) do update
      set virtual_time = excluded.virtual_time, ready = excluded.ready;
end
$adjutant$;

create or replace function {s}.flow_leave(_turn {s}.turns) returns void
  language plpgsql as $adjutant$
begin
  update {s}.flows set ready = greatest(0, ready - 1) where app = _turn.app
    and queue = _turn.queue and level = _turn.level and tenant = _turn.tenant
    and requester = _turn.requester;
end
$adjutant$;

create or replace function {s}.flow_charge(_turn {s}.turns, _weight double precision)
  returns {s}.turns language plpgsql as $adjutant$
begin
  _turn.charged_ms := _turn.estimate_ms;
  _turn.weight := _weight;
  perform {s}.flow_add(_turn, _turn.charged_ms / _weight);
  return _turn;
end
$adjutant$;

-- Replaces the estimate by the time really worked.
create or replace function {s}.flow_correct(_turn {s}.turns, _now double precision)
  returns {s}.turns language plpgsql as $adjutant$
begin
  return {s}.flow_replace(_turn, greatest(0, _now - coalesce(_turn.taken_at, _now)));
end
$adjutant$;

-- Limits the estimate to the time for which a lost worker had the turn.
create or replace function {s}.flow_correct_lost(_turn {s}.turns, _now double precision)
  returns {s}.turns language plpgsql as $adjutant$
begin
  return {s}.flow_replace(_turn,
    least(_turn.charged_ms, greatest(0, _now - coalesce(_turn.taken_at, _now))));
end
$adjutant$;

create or replace function {s}.flow_replace(_turn {s}.turns, _worked_ms double precision)
  returns {s}.turns language plpgsql as $adjutant$
begin
  if _turn.ticket is null or _turn.is_control then return _turn; end if;
  perform {s}.flow_add(_turn, (_worked_ms - _turn.charged_ms) / _turn.weight);
  _turn.charged_ms := 0;
  return _turn;
end
$adjutant$;

-- Moves the charge of a taken turn from the flow that it had to the one that it has. Otherwise the
-- new flow would be credited with an estimate that another one was charged.
create or replace function {s}.flow_move(_turn {s}.turns, _from {s}.turns) returns void
  language plpgsql as $adjutant$
begin
  if (_from.queue, _from.level, _from.requester) = (_turn.queue, _turn.level, _turn.requester)
    or _turn.place <> 'taken' or _turn.ticket is null or _turn.is_control then return; end if;
  perform {s}.flow_add(_from, -_turn.charged_ms / _turn.weight);
  perform {s}.flow_add(_turn, _turn.charged_ms / _turn.weight);
end
$adjutant$;

create or replace function {s}.flow_add(_turn {s}.turns, _ms double precision) returns void
  language plpgsql as $adjutant$
begin
  insert into {s}.flows as known values (_turn.app, _turn.queue, _turn.level, _turn.tenant,
    _turn.requester, _ms, 0)
    on conflict (app, queue, level, tenant, requester) do update
      set virtual_time = known.virtual_time + _ms;
end
$adjutant$;
`;

const keyFunctions = `
-- Turns of a concurrency key that have a place, and ready ones that have none.
create or replace function {s}.key_held(_turn {s}.turns) returns bigint
  language plpgsql as $adjutant$
begin
  return (select count(*) from {s}.turns where app = _turn.app and key_name = _turn.key_name
    and holds);
end
$adjutant$;

create or replace function {s}.key_ready(_turn {s}.turns) returns bigint
  language plpgsql as $adjutant$
begin
  return (select count(*) from {s}.turns where app = _turn.app and key_name = _turn.key_name
    and place = 'ready' and not holds);
end
$adjutant$;

-- Instant of the next place of a rate key.
create or replace function {s}.rate_at(_turn {s}.turns) returns double precision
  language plpgsql as $adjutant$
begin
  return (select at from {s}.rates where app = _turn.app and name = _turn.rate_name);
end
$adjutant$;

create or replace function {s}.rate_has_next(_turn {s}.turns) returns boolean
  language plpgsql as $adjutant$
begin
  return exists (select from {s}.turns where app = _turn.app and rate_name = _turn.rate_name
    and (place = 'ready' or awaits_rate));
end
$adjutant$;

create or replace function {s}.turn_is_blocked(_turn {s}.turns) returns boolean
  language plpgsql as $adjutant$
begin
  if _turn.key_name is not null and not _turn.holds
    and {s}.key_held(_turn) + {s}.key_ready(_turn) >= _turn.key_limit then return true; end if;
  return _turn.rate_name is not null and {s}.rate_has_next(_turn);
end
$adjutant$;

-- Moves the rate key on when a turn of it is taken.
create or replace function {s}.turn_pass_rate(_turn {s}.turns, _now double precision)
  returns void language plpgsql as $adjutant$
begin
  if _turn.rate_name is null then return; end if;
  insert into {s}.rates values (_turn.app, _turn.rate_name,
    greatest(_now, {s}.rate_at(_turn)) + _turn.rate_per_ms / _turn.rate_limit)
    on conflict (app, name) do update set at = excluded.at;
  -- Saved before the next one is looked for, which must not find this one.
  perform {s}.turn_save(_turn);
  perform {s}.turn_fill_rate(_turn, _now);
end
$adjutant$;

-- Makes the oldest turns ready that were behind the keys of a turn, as far as places are free.
create or replace function {s}.turn_fill(_turn {s}.turns, _now double precision) returns void
  language plpgsql as $adjutant$
declare
  _next {s}.turns;
begin
  while _turn.key_name is not null loop
    select * into _next from {s}.turns where app = _turn.app and key_name = _turn.key_name
      and place = 'behind' order by since, ledger limit 1;
    exit when _next.ledger is null;
    _next := {s}.turn_enter(_next, _next.since, _now);
    exit when _next.place = 'behind';
  end loop;
  perform {s}.turn_fill_rate(_turn, _now);
end
$adjutant$;

create or replace function {s}.turn_fill_rate(_turn {s}.turns, _now double precision)
  returns void language plpgsql as $adjutant$
declare
  _next {s}.turns;
begin
  if _turn.rate_name is null or {s}.rate_has_next(_turn) then return; end if;
  select * into _next from {s}.turns where app = _turn.app and rate_name = _turn.rate_name
    and place = 'behind' order by since, ledger limit 1;
  if _next.ledger is not null then
    perform {s}.turn_enter(_next, _next.since, _now); end if;
end
$adjutant$;
`;

export const turnPlaceFunctions: readonly string[] = [
  deadlineFunctions,
  flowFunctions,
  keyFunctions,
];
