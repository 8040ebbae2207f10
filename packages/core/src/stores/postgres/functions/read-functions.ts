/**
 * Returns one page of a ledger, as the JSON text of an array of rows. The database joins them, so
 * that they are parsed once. `_ledger` is the ledger of the page before, if there was one: another
 * ledger that has got its name meanwhile is not read.
 */
const pageFunction = `
create or replace function {s}.read_page(_tenant text, _app text, _session text, _ledger bigint,
  _after bigint, _up_to bigint)
returns table (ledger bigint, through bigint, more boolean, page text)
  language plpgsql stable as $adjutant$
declare
  _known {s}.ledgers;
  _holder {s}.ledgers;
  _last bigint;
  _shared_last bigint;
  _through bigint;
begin
  select * into _known from {s}.ledgers l where l.tenant = _tenant and l.app = _app
    and l.session = _session;
  if _known.id is null or _known.id <> _ledger then return; end if;
  _last := least(coalesce(_up_to, _known.seq), _known.seq);
  if _after >= _last then
    return query select _known.id, _after, false, '[]'::text;
    return;
  end if;
  -- The ledger whose own events include the first of the page, and how far this one takes from it.
  _holder := _known;
  _shared_last := _last;
  while _holder.parent is not null and _after + 1 <= _holder.base loop
    _shared_last := least(_shared_last, _holder.base);
    select * into _holder from {s}.ledgers l where l.id = _holder.parent;
  end loop;
  select max(sized.seq) into _through from (
    select e.seq, row_number() over (order by e.seq) as place,
      sum(octet_length(e.body)) over (order by e.seq) as bytes
    from (select * from {s}.events e where e.ledger = _holder.id and e.seq > _after
      and e.seq <= _shared_last order by e.seq limit 1000) e
  ) sized where sized.place = 1 or sized.bytes <= 4000000;
  _through := coalesce(_through, least(_after + 1000, _shared_last));
  return query select _known.id, _through, _through < _last, (
    select coalesce('[' || string_agg(
      '[' || e.seq || ',' || e.at || ',' || e.type || ',' || e.actor || ',' || e.path || ','
        || e.body || ']', ',' order by e.seq) || ']', '[]')
    from {s}.events e where e.ledger = _holder.id and e.seq > _after and e.seq <= _through);
end
$adjutant$;
`;

/**
 * Returns the bytes of a blob. With a session, only if it or its shared prefix refers to the blob.
 */
const blobFunction = `
create or replace function {s}.get_blob(_address text, _tenant text, _app text, _session text)
  returns bytea language sql stable as $adjutant$
  with recursive line as (
    select id, parent, base, 9007199254740991 as last from {s}.ledgers where tenant = _tenant
      and app = _app and session = _session
    union all
    select l.id, l.parent, l.base, least(line.base, line.last) from line join {s}.ledgers l
      on l.id = line.parent
  )
  select bytes from {s}.blobs where address = _address and tenant = _tenant and app = _app
    and (_session is null or exists (
    select from {s}.blob_references r join line on line.id = r.ledger where r.address = _address
      and r.seq <= line.last))
$adjutant$;
`;

export const readFunctions: readonly string[] = [pageFunction, blobFunction];
