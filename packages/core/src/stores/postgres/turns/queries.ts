import { defined } from '../../../base/defined.ts';
import type { JsonValue } from '../../../base/json.ts';
import type {
  PendingSend,
  RowFilter,
  Send,
  SendFilter,
  StoredRow,
  Taken,
  TakeOptions,
  TakeReceipt,
  TurnBlock,
  TurnExplanation,
  TurnFilter,
  TurnRow,
  TurnScope,
} from '../../../ledger/port.ts';
import { OwnerSurvey } from '../../owner.ts';
import { Conditions } from '../conditions.ts';
import type { Database } from '../database.ts';
import type { StoredScope } from '../encoding.ts';
import { fromStorable, toStorable } from '../storable-text.ts';
import { storedWhole } from '../whole.ts';
import { type StoredTurn, storedScope, storedTake, turnRow } from './encoding.ts';

export async function queryTurns(
  database: Database,
  { tenant, app }: StoredScope,
  { queue, session, state }: TurnFilter,
  limit: number,
): Promise<readonly TurnRow[]> {
  const conditions = new Conditions().add('tenant = $', tenant).add('app = $', app);
  conditions.equal('queue', queue);
  if (session !== undefined)
    conditions.add(
      'ledger = (select id from {s}.ledgers where tenant = $ and app = $ and session = $)',
      ...[tenant, app, toStorable(session)],
    );
  if (state === 'ready') conditions.add("place in ('ready', 'out')");
  else conditions.equal('place', state);
  const rows = await database.query(
    `select to_jsonb(t)::text as turn from {s}.turns t where ${conditions.text} ` +
      `order by since, ledger limit ${limit}`,
    conditions.values,
  );
  return rows.map(({ turn }) => turnRow(JSON.parse(String(turn)) as StoredTurn));
}

interface TakeReply {
  readonly taken: readonly {
    readonly epoch: number;
    readonly until: number;
    readonly turn: StoredTurn;
  }[];
  readonly nextAt: number | null;
  readonly now: number;
}

/** Owners that were at work when one of them was not known. */
interface OwnersReply {
  readonly owners: readonly string[];
}

/** Owners that are kept in mind at most, unless more are at work. */
const mostOwners = 100;
/**
 * Owners that are known of each store, those met last at first. They stay known while they have no
 * session for a moment: each unknown one costs a second call.
 */
const knownOwners = new WeakMap<Database, readonly string[]>();

export async function takeTurns(
  database: Database,
  options: TakeOptions,
  fixedNow: number | null,
): Promise<TakeReceipt> {
  for (;;) {
    const known = knownOwners.get(database) ?? [];
    const text = await database.call(
      'select {s}.take($1::jsonb, $2::jsonb, $3::jsonb, $4::bigint)::text',
      [
        JSON.stringify(storedTake(options)),
        JSON.stringify(goneOf(known)),
        JSON.stringify(known),
        fixedNow,
      ],
    );
    const reply = JSON.parse(String(text)) as TakeReply | OwnersReply;
    if ('taken' in reply) {
      const { taken, nextAt, now } = reply;
      return { taken: taken.map(takenOf), nextAt, now };
    }
    const met = [...new Set([...reply.owners, ...known])];
    knownOwners.set(database, met.slice(0, Math.max(mostOwners, reply.owners.length)));
  }
}

function takenOf({ epoch, until, turn }: TakeReply['taken'][number]): Taken {
  const row = turnRow(turn);
  const { session, tenant } = row;
  return { tenant, session, epoch, until, turn: row, isControl: turn['is_control'] === true };
}

/**
 * Returns the owners of sessions with work whose leases live and whose processes are gone, as far
 * as this process can tell.
 */
async function findGoneOwners(
  database: Database,
  app: string,
  fixedNow: number | null,
): Promise<readonly string[]> {
  const text = await database.call('select {s}.owners_at_work($1, $2::bigint)::text', [
    app,
    fixedNow,
  ]);
  return goneOf(JSON.parse(String(text)) as readonly string[]);
}

/** Returns the owners whose processes are gone, as far as this process can tell. */
function goneOf(owners: readonly string[]): readonly string[] {
  const survey = new OwnerSurvey();
  return owners.filter((owner) => survey.isGone(fromStorable(owner)));
}

export async function queryExplanation(
  database: Database,
  scope: { readonly tenant: string; readonly app: string },
  session: string,
  asked: TurnScope,
  fixedNow: number | null,
): Promise<TurnExplanation | undefined> {
  const gone = await findGoneOwners(database, toStorable(scope.app), fixedNow);
  const text = await database.call(
    'select {s}.explain_turn($1, $2, $3::jsonb, $4::jsonb, $5::bigint)::text',
    [
      toStorable(scope.tenant),
      toStorable(session),
      JSON.stringify(storedScope(asked, scope.app)),
      JSON.stringify(gone),
      fixedNow,
    ],
  );
  if (typeof text !== 'string') return undefined;
  const { turn, block, before } = JSON.parse(text) as {
    readonly turn: StoredTurn;
    readonly block: Readonly<Record<string, JsonValue>> | null;
    readonly before: number | null;
  };
  return {
    turn: turnRow(turn),
    ...(block === null ? {} : { block: blockOf(block) }),
    ...defined({ before: before ?? undefined }),
  };
}

function blockOf(block: Readonly<Record<string, JsonValue>>): TurnBlock {
  const texts = ['key', 'queue', 'owner'].flatMap((name) => {
    const text = block[name];
    return typeof text === 'string' ? [[name, fromStorable(text)]] : [];
  });
  const holders = block['holders'];
  return {
    ...block,
    // A lease that was released without its turn.
    ...(block['owner'] === null ? { owner: 'nobody' } : {}),
    ...Object.fromEntries(texts),
    ...(Array.isArray(holders)
      ? { holders: holders.map((name) => fromStorable(String(name))) }
      : {}),
  } as TurnBlock;
}

export async function queryRows(
  database: Database,
  { tenant, app }: StoredScope,
  filter: RowFilter,
  limit: number,
  fixedNow: number | null,
): Promise<readonly StoredRow[]> {
  const { kind, id, session, statuses, user, newestFirst = false, after } = filter;
  const conditions = new Conditions().add('r.tenant = $', tenant).add('r.app = $', app);
  conditions.equal('r.kind', kind).equal('r.id', id).equal('r.user_id', user);
  conditions.add('(r.expires_at is null or r.expires_at > {s}.now_ms($::bigint))', fixedNow);
  conditions.equal('l.session', session);
  if (statuses !== undefined)
    conditions.add(
      'r.status in (select jsonb_array_elements_text($::jsonb))',
      JSON.stringify(statuses.map(toStorable)),
    );
  if (after !== undefined)
    conditions.add(
      `(r.at, r.id) ${newestFirst ? '<' : '>'} ($::double precision, $)`,
      ...[after.at, toStorable(after.id)],
    );
  const direction = newestFirst ? 'desc' : 'asc';
  const rows = await database.query(
    `select r.kind, r.id, l.session, r.status, r.at, r.expires_at, r.user_id, r.body
      from {s}.listed_rows r join {s}.ledgers l on l.id = r.ledger where ${conditions.text}
      order by r.at ${direction}, r.id ${direction} limit ${limit}`,
    conditions.values,
  );
  return rows.map(storedRowOf);
}

function storedRowOf(row: Record<string, unknown>): StoredRow {
  const { expires_at: expiresAt, user_id: user } = row;
  return {
    kind: fromStorable(String(row['kind'])),
    id: fromStorable(String(row['id'])),
    session: fromStorable(String(row['session'])),
    status: fromStorable(String(row['status'])),
    at: Number(row['at']),
    ...(expiresAt === null ? {} : { expiresAt: Number(expiresAt) }),
    ...(user === null ? {} : { user: fromStorable(String(user)) }),
    body: JSON.parse(String(row['body'])),
  };
}

/** @param scope all tenants of an app when it has no tenant */
export async function querySends(
  database: Database,
  scope: Pick<StoredScope, 'app'> & Partial<StoredScope>,
  { from, olderThanMs = 0 }: SendFilter,
  limit: number,
  fixedNow: number | null,
): Promise<readonly (PendingSend & { readonly tenant: string })[]> {
  const conditions = new Conditions().add('app = $', scope.app);
  if (scope.tenant !== undefined) conditions.add('tenant = $', scope.tenant);
  conditions.equal('sender', from);
  conditions.add(
    'at <= {s}.now_ms($::bigint) - $::bigint',
    ...[fixedNow, storedWhole(olderThanMs)],
  );
  // `number` alone is the text of the answer: "10" would come before "9".
  const rows = await database.query(
    `select tenant, sender, number::text, at::text, send from {s}.outbox
      where ${conditions.text} order by outbox.number limit ${limit}`,
    conditions.values,
  );
  return rows.map(({ tenant, sender, number, at, send }) => {
    return {
      ...(JSON.parse(String(send)) as Send),
      tenant: fromStorable(String(tenant)),
      from: fromStorable(String(sender)),
      number: Number(number),
      at: Number(at),
    };
  });
}

export async function deleteSends(
  database: Database,
  { tenant, app }: StoredScope,
  session: string,
  numbers: readonly number[],
): Promise<void> {
  await database.query(
    `delete from {s}.outbox where tenant = $1 and app = $2 and sender = $3
      and number in (select n::bigint from jsonb_array_elements_text($4::jsonb) n)`,
    [tenant, app, toStorable(session), JSON.stringify(numbers)],
  );
}
