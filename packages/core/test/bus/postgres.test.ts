import { type BusEvent, type PostgresBusOptions, postgresBus } from 'adjutant/bus';
import { busContract, eventually } from 'adjutant/testing';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newSchema, reasonToSkip, serverUrl, type TestSchema } from '../stores/postgres/server.ts';

/** A pool that survives the loss of its connections, which are known by the name of the schema. */
function poolOf(schema: TestSchema, max = 3): pg.Pool {
  const pool = new pg.Pool({
    ...{ connectionString: serverUrl, max, application_name: schema.name },
  });
  pool.on('error', () => undefined);
  return pool;
}

/** Ends all connections of a test at the server. */
async function cut(schema: TestSchema): Promise<void> {
  await schema.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
    [schema.name],
  );
}

if (reasonToSkip === undefined) {
  await busContract('PostgreSQL', async () => {
    const schema = newSchema();
    const pools = [poolOf(schema), poolOf(schema)] as const;
    const options = { schema: schema.name, onError: () => undefined };
    const [bus, other] = pools.map((pool) => postgresBus(pool, options)) as [
      ReturnType<typeof postgresBus>,
      ReturnType<typeof postgresBus>,
    ];
    return {
      ...{ bus, other },
      interrupt: async (meanwhile) => {
        await cut(schema);
        await meanwhile();
      },
      cleanup: async () => {
        await Promise.all([bus.close(), other.close()]);
        await Promise.all(pools.map((pool) => pool.end()));
        await schema.drop();
      },
    };
  });
} else {
  describe.skip(`bus contract: PostgreSQL (${reasonToSkip})`, () =>
    test('is skipped', () => undefined));
}

const testPostgres = test.skipIf(reasonToSkip !== undefined);

const event = (data: BusEvent['data']): BusEvent => ({
  ...{ id: 'e', source: 'test', type: 'news', data, at: 1 },
});

function testSchema(): TestSchema {
  const schema = newSchema();
  onTestFinished(() => schema.drop());
  return schema;
}

testPostgres('a connection string makes connections of its own', async () => {
  const schema = testSchema();
  const bus = postgresBus(serverUrl, { schema: schema.name });
  const heard: unknown[] = [];
  await bus.subscribe('news', ({ data }) => heard.push(data));
  await bus.publish(event(1));
  await eventually(() => heard.length === 1);
  await bus.close();
});

testPostgres('nothing is made in the database before the first large event', async () => {
  const schema = testSchema();
  const bus = postgresBus(serverUrl, { schema: schema.name });
  onTestFinished(() => bus.close());
  const find = () => schema.query('select from pg_namespace where nspname = $1', [schema.name]);
  await bus.publish(event('x'.repeat(6_000)));
  expect(await find()).toHaveLength(0);
  await bus.publish(event('x'.repeat(7_000)));
  expect(await find()).toHaveLength(1);
});

testPostgres('large events of long ago are removed, and one that is gone is told', async () => {
  const schema = testSchema();
  const pool = poolOf(schema);
  const bus = postgresBus(pool, { schema: schema.name });
  onTestFinished(async () => {
    await bus.close();
    await pool.end();
  });
  const large = 'x'.repeat(20_000);
  await bus.publish(event(large));
  await schema.query(`update ${schema.name}.bus_events set at = now() - interval '1 hour'`);
  await bus.publish(event(large));
  const rows = await schema.query(`select id from ${schema.name}.bus_events`);
  expect(rows).toHaveLength(1);
  let missed = 0;
  const heard: unknown[] = [];
  await bus.subscribe('news', ({ data }) => heard.push(data), { onMissed: () => missed++ });
  await schema.query('select pg_notify($1, $2)', [schema.name, 'r7 987654321']);
  await bus.publish(event(2));
  await eventually(() => heard.length === 1);
  expect(missed).toBe(1);
});

testPostgres('what others notify is left out', async () => {
  const schema = testSchema();
  const bus = postgresBus(serverUrl, { schema: schema.name });
  onTestFinished(() => bus.close());
  const heard: unknown[] = [];
  let missed = 0;
  await bus.subscribe('**', ({ data }) => heard.push(data), { onMissed: () => missed++ });
  const payloads = ['', '[]', 'e', 'e1', 'e1 {', 'r1 x; drop', 'r1 -1', `e1 ${'['.repeat(5_000)}`];
  for (const payload of payloads)
    await schema.query('select pg_notify($1, $2)', [schema.name, payload]);
  await bus.publish(event(2));
  await eventually(() => heard.length > 0);
  expect(heard).toEqual([2]);
  expect(missed).toBe(0);
});

testPostgres('equal events at once are two events', async () => {
  const schema = testSchema();
  const bus = postgresBus(serverUrl, { schema: schema.name });
  onTestFinished(() => bus.close());
  const heard: unknown[] = [];
  await bus.subscribe('news', ({ data }) => heard.push(data));
  await Promise.all([bus.publish(event(1)), bus.publish(event(1))]);
  await eventually(() => heard.length === 2);
});

testPostgres('a pool with a single connection is not taken for listening', async () => {
  const schema = testSchema();
  const pool = poolOf(schema, 1);
  const bus = postgresBus(pool, { schema: schema.name });
  onTestFinished(async () => {
    await bus.close();
    await pool.end();
  });
  const subscribed = bus.subscribe('news', () => undefined);
  await expect(subscribed).rejects.toMatchObject({
    code: 'bus_unavailable',
    message: expect.stringContaining('give the pool at least 2 (`max`), or the bus a connection'),
  });
  await bus.publish(event(1));
});

test('a server that is not there is told, by publishing and by subscribing', async () => {
  const bus = postgresBus('postgres://nobody@127.0.0.1:1/none');
  const code = { code: 'bus_unavailable' };
  await expect(bus.publish(event(1))).rejects.toMatchObject(code);
  await expect(bus.subscribe('news', () => undefined)).rejects.toMatchObject(code);
  await bus.close();
});

test.each<[unknown, PostgresBusOptions, string]>([
  ['localhost:5432', {}, 'must be a connection string'],
  [{}, {}, 'must be a connection string'],
  [undefined, {}, 'must be a connection string'],
  ['postgres://a@b/c', { schema: 'pg_x' }, '`schema` must be'],
  ['postgres://a@b/c', { channel: 'x' } as PostgresBusOptions, 'there is no option `channel`'],
])('%s with %j is refused', (connection, options, said) => {
  const make = () => postgresBus(connection as string, options);
  expect(make).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  expect(make).toThrow(said);
});
