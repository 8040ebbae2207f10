import { postgres } from 'adjutant/postgres';
import { afterEach, describe, expect, test } from 'vitest';
import type { LedgerStore, PostOptions, Store, Taken, TakeReceipt } from '../../src/ledger/port.ts';
import type { PostgresPool } from '../../src/stores/postgres/pool.ts';
import { migrations } from '../../src/stores/postgres/tables.ts';
import { turnsStep } from '../../src/stores/postgres/turns/tables.ts';
import { newPool, newSchema, reasonToSkip, type TestSchema } from '../stores/postgres/server.ts';
import { notes, readTexts } from '../stores/postgres/writer.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function newTestSchema(): TestSchema {
  const schema = newSchema();
  cleanups.push(() => schema.drop());
  return schema;
}

interface Opened {
  readonly store: Store;
  readonly ledgers: LedgerStore;
  /** Codes of the errors that the server answered with. */
  readonly errors: unknown[];
}

/** A store of another process on a schema. */
function open(schema: string): Opened {
  const pool = newPool();
  const errors: unknown[] = [];
  const watched: PostgresPool = {
    query: (text, values) =>
      pool.query(text, values).catch((error: { code?: unknown }) => {
        errors.push(error.code);
        throw error;
      }),
    connect: () => pool.connect(),
  };
  const store = postgres({ pool: watched, schema });
  cleanups.push(async () => {
    await store.close();
    await pool.end();
  });
  return { store, ledgers: store.for({ tenant: 'acme', app: 'shop' }), errors };
}

function submit(
  ledgers: LedgerStore,
  session: string,
  turn: PostOptions['turn'] = {},
): Promise<unknown> {
  return ledgers.post(
    session,
    { key: `task ${session}`, lane: 'input', by: 'user', at: 1, type: 'user', data: { text: '' } },
    { open: true, turn: { run: session, ...turn } },
  );
}

let tickets = 0;

function take(store: Store, slots: number, names?: readonly string[]): Promise<TakeReceipt> {
  const ticket = `ticket ${++tickets}`;
  return store.admin.take({
    ...{ app: 'shop', owner: ticket, ticket, ttlMs: 60_000, slots },
    ...(names === undefined ? {} : { names }),
  });
}

/** Works on a session that was taken, and ends its turn. */
async function finish(ledgers: LedgerStore, { epoch, session }: Taken): Promise<void> {
  const seq = (await ledgers.head(session))?.seq ?? 0;
  const consumes = (await ledgers.inbox(session)).map(({ position }) => position);
  const events = notes(seq, ['worked']);
  await ledgers.append(session, { seq, epoch }, { events, consumes, wakeAt: null });
  const claim = { session, epoch, owner: '', seq, inboxSeq: 0, until: 0, now: 0 };
  await ledgers.release(claim, { turn: { to: 'none' } });
}

describe.skipIf(reasonToSkip !== undefined)('turns of many processes', () => {
  test('are taken once each while others post, append and release, without deadlock', async () => {
    const schema = newTestSchema().name;
    const processes = [open(schema), open(schema), open(schema), open(schema)];
    const taken: string[] = [];
    const key = { name: 'k', limit: 3 };
    const work = processes.map(async ({ ledgers, store }, place) => {
      for (let round = 0; round < 12; round++) {
        // Names in another order in each process, and some that all of them make.
        const own = Array.from({ length: 6 }, (_, i) => `s${place}.${round}.${i}`);
        const shared = ['x', 'y', 'z'].map((name) => `${name}${round}`);
        const posts = [...own, ...(place % 2 === 0 ? shared : shared.reverse())].map((name, i) =>
          submit(ledgers, name, { level: i % 5, ...(i % 3 === 0 ? { key } : {}) }),
        );
        const [receipt] = await Promise.all([take(store, 4), ...posts]);
        await Promise.all(
          receipt.taken.map(async (turn) => {
            taken.push(turn.session);
            await finish(ledgers, turn);
          }),
        );
      }
    });
    await Promise.all(work);
    const [{ ledgers, store }] = processes as [Opened];
    for (let left = await take(store, 100); left.taken.length > 0; left = await take(store, 100))
      for (const turn of left.taken) {
        taken.push(turn.session);
        await finish(ledgers, turn);
      }
    // The first statement of each finds no tables yet.
    const errors = processes.flatMap((each) => each.errors);
    expect(errors.filter((code) => code !== '42P01')).toEqual([]);
    // A session that all of them make may be posted to, and so taken, more than once.
    const own = taken.filter((name) => name.startsWith('s'));
    expect(new Set(own).size).toBe(4 * 12 * 6);
    expect(own).toHaveLength(4 * 12 * 6);
  }, 60_000);

  test('are passed over while a transaction of another has their session', async () => {
    const schema = newTestSchema();
    const { ledgers, store } = open(schema.name);
    await submit(ledgers, 'a');
    await submit(ledgers, 'b');
    const pool = newPool();
    const client = await pool.connect();
    await client.query(
      `begin; select from "${schema.name}".ledgers where session = 'a' for update`,
    );
    const { nextAt, now, taken } = await take(store, 5);
    expect(taken.map(({ session }) => session)).toEqual(['b']);
    expect(nextAt).toBe(now + 10);
    await client.query('commit');
    client.release();
    await pool.end();
    expect((await take(store, 5)).taken.map(({ session }) => session)).toEqual(['a']);
  });

  test('are refused to posts that make no session, also beside others that do', async () => {
    const { ledgers } = open(newTestSchema().name);
    const admit = { total: 1 };
    const post = (session: string) =>
      ledgers.post(
        session,
        { key: 'k', lane: 'input', by: 'user', at: 1, type: 'user', data: { text: '' } },
        { open: true, turn: { run: 'task' }, admit },
      );
    const results = await Promise.allSettled(['c', 'b', 'a'].map(post));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect((await ledgers.list()).map(({ id }) => id)).toEqual(['c']);
    expect(await ledgers.head('a')).toBeUndefined();
  });
});

/** Names of the indexes by which the plan of a statement reads turns; `none` for a scan of all. */
async function indexesOf(schema: TestSchema, statement: string): Promise<readonly string[]> {
  const rows = await schema.query(`explain ${statement.replaceAll('{s}', `"${schema.name}"`)}`);
  const plan = rows.map((row) => String(row['QUERY PLAN'])).join('\n');
  return plan.match(/(?<=using )\w+|(?<=Bitmap Index Scan on )\w+|Seq Scan/g) ?? [];
}

describe.skipIf(reasonToSkip !== undefined)('the look-ups of turns', () => {
  test('read no more than they need, among 100,000 that wait', async () => {
    const schema = newTestSchema();
    const { ledgers } = open(schema.name);
    await submit(ledgers, 'first');
    await schema.query(
      `insert into "${schema.name}".ledgers (tenant, app, session, base, seq, epoch, inbox_seq,
        created_at, updated_at, status, has_turn)
        select 'acme', 'shop', 's' || n, 0, 0, 0, 0, 0, 0, 'active', true
        from generate_series(1, 100000) n`,
    );
    await schema.query(
      `with first as materialized (select to_jsonb(t) as turn from "${schema.name}".turns t)
        insert into "${schema.name}".turns
        select made.* from "${schema.name}".ledgers l, first,
          lateral jsonb_populate_record(null::"${schema.name}".turns, turn || jsonb_build_object(
            'ledger', l.id, 'session', l.session, 'requester', 'r' || l.id % 100,
            'since', (turn->>'since')::double precision + l.id, 'level', 1 + l.id % 4,
            'runnable', case when l.id % 9 = 0 then 'writer' else 'mailer' end,
            'key_name', case when l.id % 10 = 0 then 'k' end, 'key_limit', 1,
            'place', case when l.id % 10 = 0 then 'behind' else 'ready' end)) made
          where l.session like 's%'`,
    );
    await schema.query(
      `insert into "${schema.name}".flows
        select app, queue, level, tenant, requester, 0, count(*) from "${schema.name}".turns
        where place = 'ready' group by 1, 2, 3, 4, 5
        on conflict (app, queue, level, tenant, requester) do update set ready = excluded.ready`,
    );
    await schema.query(`analyze "${schema.name}".turns, "${schema.name}".flows`);
    const ofLevel = "app = 'shop' and queue = 'default' and level = 2 and place = 'ready'";
    const select = 'select * from {s}.turns where';
    const oldest = 'order by since, ledger limit 1';
    const indexes = async (statement: string) => indexesOf(schema, statement);
    expect(await indexes(`${select} ${ofLevel} ${oldest}`)).toEqual(['turns_ready']);
    expect(
      await indexes(`${select} ${ofLevel} and tenant = 'acme' and requester = 'r1' ${oldest}`),
    ).toEqual(['turns_ready_of_flow']);
    expect(
      await indexes(
        `select ledger from {s}.turns where app = 'shop' and place = 'resting' and ready_at <= 5
          order by ready_at, ledger limit 1000`,
      ),
    ).toEqual(['turns_resting']);
    expect(
      await indexes(`${select} app = 'shop' and key_name = 'k' and place = 'behind' ${oldest}`),
    ).toEqual(['turns_behind_key']);
    for (const names of [undefined, ['writer'], ['nobody']]) {
      const ofTake = await readsOf(schema, async (own) => {
        // Without a name every worker takes it.
        expect((await take(own, 3, names)).taken).toHaveLength(names?.[0] === 'nobody' ? 1 : 3);
      });
      expect(ofTake.whole).toBe(0);
      expect(ofTake.byIndex).toBeLessThan(600);
    }
    const ofExplain = await readsOf(schema, async (own) => {
      await own.for({ tenant: 'acme', app: 'shop' }).explainTurn('s1', {});
    });
    expect(ofExplain.whole).toBe(0);
  }, 180_000);
});

/** Numbers of rows that some work reads: in scans of whole tables, and by indexes. */
async function readsOf(
  schema: TestSchema,
  work: (store: Store) => Promise<void>,
): Promise<{ readonly whole: number; readonly byIndex: number }> {
  const pool = newPool();
  const client = await pool.connect();
  const query: PostgresPool['query'] = (text, values) => client.query(text, values);
  const store = postgres({
    pool: { query, connect: () => pool.connect() },
    schema: schema.name,
  });
  // The server knows the numbers of a transaction at once.
  await client.query('begin');
  await work(store);
  const { rows } = await client.query<{ whole: number; byIndex: number }>(
    `select sum(seq_tup_read)::int as whole, sum(idx_tup_fetch)::int as "byIndex"
      from pg_stat_xact_user_tables where schemaname = $1
      and relname in ('turns', 'ledgers', 'flows', 'inbox')`,
    [schema.name],
  );
  await client.query('rollback');
  await store.close();
  client.release();
  await pool.end();
  return rows[0] ?? { whole: Number.NaN, byIndex: Number.NaN };
}

describe.skipIf(reasonToSkip !== undefined)('a schema of the version before turns', () => {
  test('gets them, with its sessions and their inbox as they were', async () => {
    const schema = newTestSchema();
    const { ledgers, store } = open(schema.name);
    const steps = migrations
      .slice(0, migrations.indexOf(turnsStep))
      .map((step) => step.replaceAll('{s}', `"${schema.name}"`));
    await schema.query(`create schema "${schema.name}"`);
    await schema.query(
      `create table "${schema.name}".migrations (version int primary key,
        applied_at timestamptz not null default now())`,
    );
    for (const [i, step] of steps.entries()) {
      await schema.query(`do $step$ begin ${step} end $step$`);
      await schema.query(`insert into "${schema.name}".migrations (version) values (${i + 1})`);
    }
    await schema.query(
      `insert into "${schema.name}".ledgers (tenant, app, session, base, seq, epoch, inbox_seq,
        created_at, updated_at, status) values ('acme', 'shop', 'old', 0, 0, 0, 1, 0, 0, 'active')`,
    );
    await schema.query(
      `insert into "${schema.name}".inbox (ledger, position, key, lane, actor, at, type, data)
        select id, 1, 'k', 'input', 'user', 5, 'user', '{"text":"old"}'
        from "${schema.name}".ledgers`,
    );
    expect(await ledgers.inbox('old')).toMatchObject([{ key: 'k', data: { text: 'old' } }]);
    expect(await ledgers.turn('old')).toBeUndefined();
    const { taken } = await take(store, 1);
    expect(taken).toMatchObject([{ session: 'old', epoch: 1, turn: { level: 1, since: 5 } }]);
    await ledgers.append('old', { seq: 0, epoch: 1 }, { events: notes(0, ['new']), consumes: [1] });
    expect(await readTexts(ledgers, 'old')).toEqual(['new']);
  });
});
