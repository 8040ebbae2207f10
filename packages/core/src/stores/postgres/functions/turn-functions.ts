/**
 * Changes of turns, as `TurnChanges` of `stores/turns` makes them, step for step and under the same
 * names: change both. All are called under the lock of the queue, by a transaction that has locked
 * the ledger whose turn it makes or ends.
 */

const tableFunctions = `
-- Lets the rest of the transaction use the indexes of turns. The plans must not depend on how few
-- turns there were when they were made.
create or replace function {s}.plan_by_index() returns void language plpgsql as $adjutant$
begin
  perform set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true), set_config('jit', 'off', true);
end
$adjutant$;

-- Keeps the plans of the transaction for later ones. A plan made anew for the values of one call
-- takes longer than the look-up itself.
create or replace function {s}.plan_once() returns void language plpgsql as $adjutant$
begin
  perform set_config('plan_cache_mode', 'force_generic_plan', true);
end
$adjutant$;

-- Waits for the queue of an app. To be called after the ledgers were locked, and before anything
-- else is.
create or replace function {s}.lock_queue(_app text) returns void language plpgsql as $adjutant$
begin
  perform pg_advisory_xact_lock(
    hashtextextended(_app, $queue\${s}.turns$queue$::regclass::oid::bigint));
  perform {s}.plan_by_index();
end
$adjutant$;

create or replace function {s}.turn_new(_ledger bigint, _tenant text, _app text, _session text,
  _now double precision) returns {s}.turns language plpgsql as $adjutant$
declare
  _turn {s}.turns;
begin
  _turn.ledger := _ledger; _turn.tenant := _tenant; _turn.app := _app; _turn.session := _session;
  _turn.queue := 'default'; _turn.level := 1; _turn.requester := ''; _turn.runnable := '';
  _turn.place := 'resting'; _turn.suspended := false; _turn.since := _now;
  _turn.holds := false; _turn.awaits_rate := false;
  _turn.interests := 1; _turn.attempts := 1; _turn.estimate_ms := 1000;
  _turn.is_front := false; _turn.is_control := false; _turn.is_transient := false;
  _turn.charged_ms := 0; _turn.weight := 1;
  return _turn;
end
$adjutant$;

create or replace function {s}.turn_save(_turn {s}.turns) returns void
  language plpgsql as $adjutant$
begin
  insert into {s}.turns select _turn.* on conflict (ledger) do update set
    queue = excluded.queue, level = excluded.level, requester = excluded.requester,
    runnable = excluded.runnable, place = excluded.place, suspended = excluded.suspended,
    since = excluded.since, ready_at = excluded.ready_at, control_at = excluded.control_at,
    key_name = excluded.key_name, key_limit = excluded.key_limit, key_hold = excluded.key_hold,
    rate_name = excluded.rate_name, rate_limit = excluded.rate_limit,
    rate_per_ms = excluded.rate_per_ms, holds = excluded.holds,
    awaits_rate = excluded.awaits_rate, soft_at = excluded.soft_at, hard_at = excluded.hard_at,
    soft_left_ms = excluded.soft_left_ms, hard_left_ms = excluded.hard_left_ms,
    coalesce_key = excluded.coalesce_key, run = excluded.run, interests = excluded.interests,
    attempts = excluded.attempts, estimate_ms = excluded.estimate_ms,
    taken_at = excluded.taken_at, ticket = excluded.ticket, is_front = excluded.is_front,
    is_control = excluded.is_control, is_transient = excluded.is_transient,
    charged_ms = excluded.charged_ms, weight = excluded.weight;
end
$adjutant$;

-- Notes at the session whether it has a turn.
create or replace function {s}.turn_note(_ledger bigint, _has_turn boolean) returns void
  language plpgsql as $adjutant$
begin
  update {s}.ledgers set has_turn = _has_turn where id = _ledger;
  update {s}.inbox set has_turn = _has_turn where ledger = _ledger and has_turn <> _has_turn;
end
$adjutant$;
`;

const changeFunctions = `
create or replace function {s}.turn_patch(_ledger bigint, _tenant text, _app text, _session text,
  _patch jsonb, _now double precision) returns void language plpgsql as $adjutant$
declare
  _turn {s}.turns;
  _before {s}.turns;
  _is_new boolean;
begin
  select * into _turn from {s}.turns where ledger = _ledger;
  _is_new := _turn.ledger is null;
  if _patch->>'to' = 'none' then
    if not _is_new then perform {s}.turn_remove(_turn, _now); end if;
    return;
  end if;
  -- A change of a turn that has ended meanwhile makes no new one.
  if _is_new and _patch->>'run' is null and _patch->>'to' is null then return; end if;
  if _is_new then
    _turn := {s}.turn_new(_ledger, _tenant, _app, _session, _now);
    perform {s}.turn_note(_ledger, true);
  end if;
  if _turn.place = 'ready' then perform {s}.flow_leave(_turn); end if;
  _before := _turn;
  _turn := {s}.turn_set(_turn, _patch, _now);
  perform {s}.flow_move(_turn, _before);
  _turn := {s}.turn_move(_turn, _patch, _is_new, _now);
  perform {s}.turn_fill(_turn, _now);
end
$adjutant$;

create or replace function {s}.turn_set(_turn {s}.turns, _patch jsonb, _now double precision)
  returns {s}.turns language plpgsql as $adjutant$
begin
  _turn.queue := coalesce(_patch->>'queue', _turn.queue);
  _turn.level := coalesce((_patch->>'level')::int, _turn.level);
  _turn.requester := coalesce(_patch->>'requester', _turn.requester);
  _turn.runnable := coalesce(_patch->>'runnable', _turn.runnable);
  if _patch->'key' is not null then
    _turn.key_name := _patch->'key'->>'name';
    _turn.key_limit := _patch->'key'->>'limit';
    _turn.key_hold := _patch->'key'->>'hold';
  end if;
  if _patch->'rate' is not null then
    _turn.rate_name := _patch->'rate'->>'name';
    _turn.rate_limit := _patch->'rate'->>'limit';
    _turn.rate_per_ms := _patch->'rate'->>'perMs';
  end if;
  _turn.coalesce_key := coalesce(_patch->>'coalesceKey', _turn.coalesce_key);
  _turn.run := coalesce(_patch->>'run', _turn.run);
  _turn.estimate_ms := coalesce((_patch->>'estimateMs')::double precision, _turn.estimate_ms);
  _turn.attempts := coalesce((_patch->>'attempts')::int, _turn.attempts);
  _turn.suspended := coalesce((_patch->>'suspended')::boolean, _turn.suspended);
  -- One that was made for a session without a turn stays so, until a task is submitted for it.
  if _patch->>'run' is not null then _turn.is_transient := false; end if;
  return {s}.deadlines_set(_turn, _patch, _now);
end
$adjutant$;

create or replace function {s}.turn_move(_turn {s}.turns, _patch jsonb, _is_new boolean,
  _now double precision) returns {s}.turns language plpgsql as $adjutant$
declare
  _at double precision := _patch->>'at';
  _next text := coalesce(_patch->>'to', case when _is_new then 'ready' end);
  _since double precision;
begin
  if (_patch->>'toFront')::boolean then _turn := {s}.turn_to_front(_turn); end if;
  if _next = 'ready' and coalesce(_at, _now) <= _now then
    _since := case when _turn.place in ('taken', 'ready', 'out') then _turn.since else _now end;
    if _turn.place = 'taken' then _turn := {s}.turn_give_back(_turn, _now); end if;
    return {s}.turn_enter(_turn, _since, _now);
  end if;
  if _next is not null then return {s}.turn_rest(_turn, _at, _now); end if;
  if _turn.place in ('ready', 'out', 'behind') then
    return {s}.turn_enter(_turn, _turn.since, _now); end if;
  perform {s}.turn_save(_turn);
  return _turn;
end
$adjutant$;

-- Puts a turn before all turns of all levels of its queue.
create or replace function {s}.turn_to_front(_turn {s}.turns) returns {s}.turns
  language plpgsql as $adjutant$
declare
  _first double precision;
begin
  _turn.is_front := true;
  select min(oldest.since + fair.level * 300000::double precision) into _first
    from unnest(array[1, 2, 3, 4]) fair(level), lateral (
      select t.since from {s}.turns t where t.app = _turn.app and t.queue = _turn.queue
        and t.level = fair.level and t.place = 'ready' order by t.since, t.ledger limit 1) oldest;
  _turn.since := least(_turn.since, _first - 1 - _turn.level * 300000::double precision);
  return _turn;
end
$adjutant$;

-- Makes a turn ready, or puts it behind others of its keys, or out while it is suspended.
create or replace function {s}.turn_enter(_turn {s}.turns, _since double precision,
  _now double precision) returns {s}.turns language plpgsql as $adjutant$
declare
  _rate_at double precision;
begin
  _turn.since := _since;
  _turn.ready_at := null;
  _turn.awaits_rate := false;
  _turn.place := 'resting';
  -- It must not count among those that its keys let wait.
  if _turn.key_name is not null or _turn.rate_name is not null then
    perform {s}.turn_save(_turn); end if;
  _turn := {s}.deadlines_run(_turn, _now);
  if _turn.suspended then _turn.place := 'out';
  elsif {s}.turn_is_blocked(_turn) then _turn.place := 'behind';
  else
    if _turn.rate_name is not null then _rate_at := {s}.rate_at(_turn); end if;
    if _rate_at > _now then
      _turn.ready_at := _rate_at;
      _turn.awaits_rate := true;
    else
      _turn.place := 'ready';
      perform {s}.flow_enter(_turn);
    end if;
  end if;
  perform {s}.turn_save(_turn);
  return _turn;
end
$adjutant$;

create or replace function {s}.turn_rest(_turn {s}.turns, _at double precision,
  _now double precision) returns {s}.turns language plpgsql as $adjutant$
begin
  if _turn.place = 'taken' then _turn := {s}.turn_give_back(_turn, _now); end if;
  _turn := {s}.deadlines_pause(_turn, _now);
  _turn.place := 'resting';
  _turn.ready_at := _at;
  _turn.awaits_rate := false;
  perform {s}.turn_save(_turn);
  return _turn;
end
$adjutant$;

create or replace function {s}.turn_remove(_turn {s}.turns, _now double precision) returns void
  language plpgsql as $adjutant$
begin
  if _turn.place = 'ready' then perform {s}.flow_leave(_turn); end if;
  if _turn.place = 'taken' then _turn := {s}.turn_give_back(_turn, _now); end if;
  delete from {s}.turns where ledger = _turn.ledger;
  perform {s}.turn_note(_turn.ledger, false);
  perform {s}.turn_fill(_turn, _now);
end
$adjutant$;

-- Marks a turn as taken: by a worker, or through another door that claims its session.
create or replace function {s}.turn_take(_turn {s}.turns, _now double precision, _ticket text,
  _weight double precision) returns {s}.turns language plpgsql as $adjutant$
begin
  if _turn.place = 'ready' then perform {s}.flow_leave(_turn); end if;
  _turn := {s}.deadlines_run(_turn, _now);
  _turn.place := 'taken';
  _turn.taken_at := _now;
  _turn.ticket := _ticket;
  _turn.ready_at := null;
  _turn.awaits_rate := false;
  _turn.control_at := null;
  _turn.is_control := false;
  _turn.is_front := false;
  _turn.coalesce_key := null;
  _turn.holds := _turn.key_name is not null;
  if _ticket is not null then _turn := {s}.flow_charge(_turn, _weight); end if;
  perform {s}.turn_pass_rate(_turn, _now);
  perform {s}.turn_save(_turn);
  return _turn;
end
$adjutant$;

-- Takes a turn for control work alone: without a place of a key, and without a charge.
create or replace function {s}.turn_take_for_control(_turn {s}.turns, _now double precision,
  _ticket text) returns {s}.turns language plpgsql as $adjutant$
begin
  if _turn.place = 'ready' then perform {s}.flow_leave(_turn); end if;
  _turn.place := 'taken';
  _turn.taken_at := _now;
  _turn.ticket := _ticket;
  _turn.control_at := null;
  _turn.is_control := true;
  _turn.ready_at := null;
  _turn.awaits_rate := false;
  perform {s}.turn_save(_turn);
  perform {s}.turn_fill(_turn, _now);
  return _turn;
end
$adjutant$;

-- Notes that a session was claimed through another door than take; the refusal when it may not be.
create or replace function {s}.turn_claimed(_ledger bigint, _now double precision) returns jsonb
  language plpgsql as $adjutant$
declare
  _turn {s}.turns;
begin
  select * into _turn from {s}.turns where ledger = _ledger;
  if _turn.ledger is null or _turn.place = 'taken' then return null; end if;
  if not _turn.holds and {s}.key_held(_turn) >= _turn.key_limit then
    return jsonb_build_object('refused', 'key_busy', 'key', _turn.key_name,
      'limit', _turn.key_limit); end if;
  perform {s}.turn_take(_turn, _now, null, 1);
  return null;
end
$adjutant$;

create or replace function {s}.turn_posted(_ledger bigint, _is_control boolean, _wakes boolean,
  _now double precision) returns void language plpgsql as $adjutant$
declare
  _turn {s}.turns;
begin
  select * into _turn from {s}.turns where ledger = _ledger;
  if _turn.ledger is null or _turn.place = 'taken' or not _wakes then return; end if;
  if _is_control then _turn.control_at := least(coalesce(_turn.control_at, _now), _now); end if;
  if _turn.place = 'resting' and not _turn.awaits_rate then
    perform {s}.turn_enter(_turn, _now, _now);
  else perform {s}.turn_save(_turn); end if;
end
$adjutant$;

create or replace function {s}.turn_woken(_ledger bigint, _at double precision) returns void
  language plpgsql as $adjutant$
begin
  update {s}.turns set ready_at = _at
    where ledger = _ledger and place = 'resting' and not awaits_rate;
end
$adjutant$;

-- Notes that a session was released: without a patch, its inbox and its instant decide.
create or replace function {s}.turn_released(_ledger {s}.ledgers, _patch jsonb,
  _now double precision) returns void language plpgsql as $adjutant$
declare
  _turn {s}.turns;
begin
  if _patch is not null then perform {s}.turn_patch(_ledger.id, _ledger.tenant, _ledger.app,
    _ledger.session, _patch, _now); end if;
  if not _ledger.has_turn or _patch->>'to' is not null then return; end if;
  select * into _turn from {s}.turns where ledger = _ledger.id;
  if _turn.place is distinct from 'taken' then return; end if;
  if {s}.ledger_is_due(_ledger.id, _now) then
    _turn := {s}.turn_give_back(_turn, _now);
    _turn := {s}.turn_enter(_turn, _turn.since, _now);
  elsif _turn.is_transient then perform {s}.turn_remove(_turn, _now);
  else _turn := {s}.turn_rest(_turn, _ledger.wake_at, _now); end if;
  perform {s}.turn_fill(_turn, _now);
end
$adjutant$;

create or replace function {s}.ledger_is_due(_ledger bigint, _now double precision)
  returns boolean language plpgsql as $adjutant$
begin
  return exists (select from {s}.inbox where ledger = _ledger and wakes)
    or exists (select from {s}.ledgers where id = _ledger and wake_at <= _now);
end
$adjutant$;

-- Makes turns ready whose instant has come, and those whose worker is gone.
create or replace function {s}.turn_promote(_app text, _now double precision, _gone text[])
  returns void language plpgsql as $adjutant$
declare
  _turn {s}.turns;
  _ledger bigint;
begin
  foreach _ledger in array array(select ledger from {s}.turns where app = _app
    and place = 'resting' and ready_at <= _now order by ready_at, ledger limit 1000) loop
    select * into _turn from {s}.turns where ledger = _ledger;
    _turn := {s}.turn_enter(_turn, case when _turn.awaits_rate then _turn.since
      else coalesce(_turn.ready_at, _now) end, _now);
    -- A suspended turn leaves the next instant of its rate key to others.
    if _turn.place = 'out' then perform {s}.turn_fill(_turn, _now); end if;
  end loop;
  -- A query for each lease, because a join might read all ledgers.
  foreach _ledger in array array(select t.ledger from {s}.turns t where t.app = _app
    and t.place = 'taken' and not coalesce((select l.lease_until > _now
      and l.owner <> all(_gone) from {s}.ledgers l where l.id = t.ledger), false)
    order by t.taken_at, t.ledger) loop
    select * into _turn from {s}.turns where ledger = _ledger;
    _turn := {s}.flow_correct_lost(_turn, _now);
    _turn.ticket := null;
    -- Control work that it had not done is due again.
    if _turn.is_control then _turn.control_at := _now; end if;
    _turn := {s}.turn_give_back(_turn, _now);
    _turn := {s}.turn_enter(_turn, _turn.since, _now);
    perform {s}.turn_fill(_turn, _now);
  end loop;
end
$adjutant$;

create or replace function {s}.ledger_is_held(_ledger bigint, _now double precision, _gone text[])
  returns boolean language plpgsql as $adjutant$
begin
  return exists (select from {s}.ledgers where id = _ledger and lease_until > _now
    and owner <> all(_gone));
end
$adjutant$;

-- Corrects the charge by the time really worked, and leaves the place of the key.
create or replace function {s}.turn_give_back(_turn {s}.turns, _now double precision)
  returns {s}.turns language plpgsql as $adjutant$
begin
  _turn := {s}.flow_correct(_turn, _now);
  _turn.ticket := null;
  _turn.is_control := false;
  if _turn.key_hold is distinct from 'task' then _turn.holds := false; end if;
  _turn.place := 'resting';
  return _turn;
end
$adjutant$;
`;

export const turnFunctions: readonly string[] = [tableFunctions, changeFunctions];
