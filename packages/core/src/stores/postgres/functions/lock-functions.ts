/** The functions by which a group locks what its requests change, before the first of them. */
export const lockFunctions = `
-- Locks ledgers by name, and then queues by app. Makes those that a claim or an open post needs.
create or replace function {s}.lock_ledgers(_requests jsonb, _fixed_now bigint) returns void
  language plpgsql as $adjutant$
declare
  _key record;
  _has_turn boolean;
  _apps text[] := '{}';
  _app text;
begin
  for _key in
    select tenant, app, session, bool_or(claims) as claims, bool_or(opens) as opens,
      bool_or(patches) as patches, bool_or(touches) as touches
    from (
      select r->>'tenant' collate "C" as tenant, r->>'app' collate "C" as app,
        r->>'session' collate "C" as session, r->>'op' = 'claim' as claims,
        coalesce((r->>'open')::boolean, false) as opens, r ? 'turn' as patches,
        r->>'op' in ('claim', 'release', 'post') or r ? 'wakeAt' as touches
      from jsonb_array_elements(_requests) r
    ) keys
    group by tenant, app, session order by tenant, app, session
  loop
    if _key.claims or _key.opens then perform {s}.ensure_ledger(_key.tenant, _key.app,
      _key.session, {s}.now_ms(_fixed_now), case when _key.opens then null else false end);
    end if;
    select has_turn into _has_turn from {s}.ledgers where tenant = _key.tenant
      and app = _key.app and session = _key.session for update;
    if _key.patches or (_key.touches and _has_turn) then _apps := _apps || _key.app; end if;
  end loop;
  for _app in select distinct app collate "C" from unnest(_apps) app order by 1 loop
    perform {s}.lock_queue(_app);
  end loop;
end
$adjutant$;

-- Makes a ledger when there is none. One with null in opened is a draft: all but claims and open
-- posts take it for missing, and it goes when the group ends.
drop function if exists {s}.ensure_ledger(text, text, text, bigint);
create or replace function {s}.ensure_ledger(_tenant text, _app text, _session text, _now bigint,
  _opened boolean) returns void language plpgsql as $adjutant$
begin
  if exists (select from {s}.ledgers where tenant = _tenant and app = _app
    and session = _session) then return; end if;
  insert into {s}.ledgers (tenant, app, session, base, seq, epoch, inbox_seq, created_at,
    updated_at, status, opened)
    values (_tenant, _app, _session, 0, 0, {s}.first_epoch(_tenant, _app), 0, _now, _now,
      'active', _opened)
    on conflict do nothing;
end
$adjutant$;

create or replace function {s}.forget_drafts(_requests jsonb) returns void
  language plpgsql as $adjutant$
declare
  _request jsonb;
begin
  if not _requests @> '[{"open": true}]' then return; end if;
  for _request in select r from jsonb_array_elements(_requests) r
    where (r->>'open')::boolean
  loop
    delete from {s}.ledgers where tenant = _request->>'tenant' and app = _request->>'app'
      and session = _request->>'session' and opened is null;
  end loop;
end
$adjutant$;

create or replace function {s}.lock_scopes(_requests jsonb) returns void
  language plpgsql as $adjutant$
declare
  _key record;
begin
  for _key in
    select distinct tenant, app, scope, scope_id from (
      select r->>'tenant' collate "C" as tenant, r->>'app' collate "C" as app,
        w->>'scope' collate "C" as scope, w->>'scopeId' collate "C" as scope_id
      from jsonb_array_elements(_requests) r, jsonb_array_elements(r->'shared') w
    ) keys
    order by tenant, app, scope, scope_id
  loop
    insert into {s}.shared_scopes values (_key.tenant, _key.app, _key.scope, _key.scope_id)
      on conflict do nothing;
    perform 1 from {s}.shared_scopes
      where tenant = _key.tenant and app = _key.app and scope = _key.scope
        and scope_id = _key.scope_id for update;
  end loop;
end
$adjutant$;
`;
