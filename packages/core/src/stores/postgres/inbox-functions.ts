/** The functions that post to the inbox and settle requests, called by `write`. */
export const inboxFunctions = `
create or replace function {s}.post(_request jsonb, _now bigint) returns jsonb
  language plpgsql as $adjutant$
declare
  _ledger {s}.ledgers;
  _item jsonb := _request->'item';
  _refusal jsonb;
begin
  select * into _ledger from {s}.ledgers
    where tenant = _request->>'tenant' and app = _request->>'app' and session = _request->>'session'
      for update;
  if _ledger.id is null then return '{"refused": "session_not_found"}'; end if;
  if exists (select from {s}.posted where ledger = _ledger.id and key = _item->>'key') then
    return jsonb_build_object('inboxSeq', _ledger.inbox_seq, 'duplicate', true);
  end if;
  if _item ? 'settles' then
    _refusal := {s}.settle_pending(_ledger,
      jsonb_build_object('requestId', _item->'settles', 'status', 'answered', 'by', _item->'by',
        'fromOutside', true), _now);
    if _refusal is not null then return _refusal; end if;
  end if;
  insert into {s}.posted (ledger, key) values (_ledger.id, _item->>'key');
  insert into {s}.inbox (ledger, position, key, lane, actor, at, type, data, settles)
    values (_ledger.id, _ledger.inbox_seq + 1, _item->>'key', _item->>'lane', _item->>'by',
      (_item->>'at')::bigint, _item->>'type', _item->>'data',
      _item->>'settles');
  update {s}.ledgers set inbox_seq = inbox_seq + 1 where id = _ledger.id;
  return jsonb_build_object('inboxSeq', _ledger.inbox_seq + 1, 'duplicate', false);
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
