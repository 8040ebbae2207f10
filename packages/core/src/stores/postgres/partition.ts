import { InvalidOptionError } from '../../base/invalid-option.ts';
import { StoreUnavailableError } from '../../ledger/errors.ts';
import type { Partitions } from '../../ledger/port.ts';
import { PostgresContent } from './content.ts';
import type { PostgresPool } from './pool.ts';
import { whereRun } from './tables.ts';

const defaultPartitions = 16;
const mostPartitions = 256;
/** Indexes that the schema itself makes. */
const ownIndexes: readonly string[] = ['events_pkey', 'events_by_run'];

export interface PartitionTarget {
  /** The name of the store in messages. */
  readonly description: string;
  readonly pool: PostgresPool;
  readonly schema: string;
}

/**
 * Splits the table of events by a hash of the ledger, with all that it has, in one transaction: a
 * process that ends in the middle has changed nothing. Other processes wait meanwhile.
 * @throws InvalidOptionError, SessionBusyError while a process holds a session,
 * StoreUnavailableError
 */
export async function partitionEvents(
  { description, pool, schema }: PartitionTarget,
  partitions: number = defaultPartitions,
): Promise<Partitions> {
  checkNumber(partitions);
  const content = await PostgresContent.open(description, schema, pool);
  try {
    await content.begin(() => true);
    const found = await findPartitions(content);
    if (found > 0) assertSame(found, partitions);
    else await assertPlain(content, description);
    const moved = found > 0 ? 0 : await moveEvents(content, partitions);
    await content.commit();
    return { partitions, moved };
  } catch (error) {
    await content.rollback().catch(() => undefined);
    throw error;
  } finally {
    await content.close();
  }
}

function checkNumber(partitions: unknown): void {
  const fits =
    Number.isSafeInteger(partitions) &&
    Number(partitions) >= 2 &&
    Number(partitions) <= mostPartitions;
  if (!fits) throw invalid(`\`partitions\` must be a whole number from 2 to ${mostPartitions}`);
}

function invalid(reason: string): InvalidOptionError {
  return new InvalidOptionError({ function: 'partition', reason });
}

/** Returns the number of partitions; 0 for a table that has none. */
async function findPartitions(content: PostgresContent): Promise<number> {
  const [row] = await content.query(
    `select case when relkind = 'p' then (select count(*) from pg_inherits where inhparent = c.oid)
      else 0 end as partitions from pg_class c where c.oid = '{s}events'::regclass`,
  );
  return Number(row?.['partitions']);
}

function assertSame(found: number, wanted: number): void {
  if (found === wanted) return;
  throw invalid(
    `the events are in ${found} partitions already, and their number cannot be changed later; ` +
      'leave it out',
  );
}

/**
 * Refuses a table to which somebody else has added what the move would lose.
 * @throws StoreUnavailableError
 */
async function assertPlain(content: PostgresContent, store: string): Promise<void> {
  const found = await content.query(
    `select 'the trigger ' || tgname as what from pg_trigger
      where tgrelid = '{s}events'::regclass and not tgisinternal
    union all select 'the index ' || c.relname from pg_index i join pg_class c on c.oid = indexrelid
      where indrelid = '{s}events'::regclass and not c.relname = any($1)
    union all select 'the publication ' || pubname from pg_publication_rel r
      join pg_publication p on p.oid = prpubid where prrelid = '{s}events'::regclass
    union all select 'the policy ' || polname from pg_policy
      where polrelid = '{s}events'::regclass`,
    [ownIndexes],
  );
  if (found.length === 0) return;
  const what = found.map((row) => String(row['what'])).join(', ');
  throw new StoreUnavailableError({
    store,
    reason: `its table of events cannot be partitioned: remove ${what} first`,
    permanent: true,
  });
}

/** Moves all events into a table of partitions. Returns their number. */
async function moveEvents(content: PostgresContent, partitions: number): Promise<number> {
  await content.query(`
    alter table {s}events rename to events_whole;
    alter index {s}events_pkey rename to events_whole_pkey;
    alter index {s}events_by_run rename to events_whole_by_run;
    create table {s}events (
      like {s}events_whole including defaults including comments including storage,
      primary key (ledger, seq)
    ) partition by hash (ledger);
    ${partitionsOf(partitions)}
    ${sameRights}`);
  const [row] = await content.query(
    `with moved as (insert into {s}events select * from {s}events_whole returning 1)
    select count(*) as events from moved`,
  );
  await content.query(`
    drop table {s}events_whole;
    create index events_by_run on {s}events using hash (path) ${whereRun};
    analyze {s}events;`);
  return Number(row?.['events']);
}

function partitionsOf(count: number): string {
  return Array.from(
    { length: count },
    (_, i) =>
      `create table {s}events_p${i} partition of {s}events
        for values with (modulus ${count}, remainder ${i});`,
  ).join('\n');
}

/** Rights that others were given go over to the new table. */
const sameRights = `
  do $adjutant_rights$
  declare
    _right record;
  begin
    for _right in
      select case when a.grantee = 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end
          as grantee, a.privilege_type, a.is_grantable
        from pg_class c, aclexplode(c.relacl) a
        where c.oid = '{s}events_whole'::regclass and a.grantee <> c.relowner
    loop
      execute format('grant %s on %s to %s', _right.privilege_type, '{s}events'::regclass,
        _right.grantee || case when _right.is_grantable then ' with grant option' else '' end);
    end loop;
  end
  $adjutant_rights$;`;
