/** The explanation of a turn, as `explainTurn` of `stores/turns` makes it: change both. */
export const turnExplanationFunctions = `
create or replace function {s}.explain_turn(_tenant text, _session text, _options jsonb,
  _gone jsonb, _fixed_now bigint) returns jsonb language plpgsql as $adjutant$
declare
  _asked {s}.asked := {s}.asked_by(_options, _gone);
  _turn {s}.turns;
  _block jsonb;
  _before bigint;
begin
  select t.* into _turn from {s}.ledgers l join {s}.turns t on t.ledger = l.id
    where l.tenant = _tenant and l.app = _asked.app and l.session = _session;
  if _turn.place = 'ready' then
    perform {s}.lock_queue(_asked.app);
    select * into _turn from {s}.turns where ledger = _turn.ledger;
  end if;
  if _turn.ledger is null then return null; end if;
  _block := {s}.turn_block(_turn, _asked, {s}.now_ms(_fixed_now));
  if _turn.place = 'ready' and _block is null then
    _before := {s}.count_before(_turn.ledger, _asked, {s}.now_ms(_fixed_now)); end if;
  return jsonb_build_object('turn', to_jsonb(_turn), 'block', _block, 'before', _before);
end
$adjutant$;

create or replace function {s}.turn_block(_turn {s}.turns, _asked {s}.asked,
  _now double precision) returns jsonb language plpgsql as $adjutant$
declare
  _limit double precision := _asked.queue_limits->>_turn.queue;
begin
  if _turn.place = 'taken' then return jsonb_build_object('kind', 'taken', 'owner',
    (select owner from {s}.ledgers where id = _turn.ledger)); end if;
  if _turn.suspended then return '{"kind": "suspended"}'; end if;
  if _turn.awaits_rate and _turn.rate_name is not null then
    return jsonb_build_object('kind', 'rate', 'key', _turn.rate_name,
      'at', coalesce(_turn.ready_at, 0)); end if;
  if _turn.place = 'resting' and _turn.ready_at is null then return '{"kind": "waits"}'; end if;
  if _turn.place = 'resting' then
    return jsonb_build_object('kind', 'not_before', 'at', _turn.ready_at); end if;
  if _turn.place = 'behind' then
    if {s}.key_held(_turn) + {s}.key_ready(_turn) >= _turn.key_limit then
      return jsonb_build_object('kind', 'key', 'key', _turn.key_name, 'holders',
        (select coalesce(jsonb_agg(session order by since, ledger), '[]') from {s}.turns
          where app = _turn.app and key_name = _turn.key_name and holds)); end if;
    if _turn.rate_name is not null then
      return jsonb_build_object('kind', 'rate', 'key', _turn.rate_name,
        'at', greatest(_now, {s}.rate_at(_turn))); end if;
  end if;
  if _turn.queue <> all(_asked.queues) or (_asked.names is not null and _turn.runnable <> ''
    and _turn.runnable <> all(_asked.names)) then return '{"kind": "out_of_scope"}'; end if;
  if {s}.queue_working(_turn.app, _turn.queue) >= _limit then
    return jsonb_build_object('kind', 'queue_limit', 'queue', _turn.queue, 'limit', _limit);
  end if;
  return null;
end
$adjutant$;

-- Counts the turns that are taken before another one, by taking them and forgetting that.
create or replace function {s}.count_before(_ledger bigint, _asked {s}.asked,
  _now double precision) returns bigint language plpgsql as $adjutant$
declare
  _next {s}.turns;
begin
  for _count in 0..1000 loop
    _next := {s}.turn_oldest(0, _asked, _now);
    if _next.ledger is null then _next := {s}.turn_next(_asked, _now); end if;
    exit when _next.ledger is null;
    if _next.ledger = _ledger then
      raise exception using errcode = 'AJ001', message = _count::text; end if;
    perform {s}.turn_take(_next, _now, 'counted', {s}.turn_weight(_next, _asked));
  end loop;
  raise exception using errcode = 'AJ001', message = '';
exception when sqlstate 'AJ001' then
  return nullif(sqlerrm, '')::bigint;
end
$adjutant$;
`;
