import { randomBytes } from 'node:crypto';
import { runtime } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  newSchema,
  reasonToSkip,
  serverUrl,
  type TestSchema,
} from '../../../core/test/stores/postgres/server.ts';
import { callerOf } from '../rest/caller.ts';

const role = `adjutant_few_${randomBytes(4).toString('hex')}`;
const mostConnections = 3;

describe.skipIf(reasonToSkip !== undefined)('connections of PostgreSQL', () => {
  let schema: TestSchema;
  /** The server's address for a user who may have few connections. */
  const url = new URL(serverUrl);

  beforeAll(async () => {
    schema = newSchema();
    await schema.query(
      `create role ${role} login password 'few' connection limit ${mostConnections}`,
    );
    await schema.query(`create schema "${schema.name}" authorization ${role}`);
    url.username = role;
    url.password = 'few';
  });

  afterAll(async () => {
    await schema.drop();
    await schema.query(`drop owned by ${role}`);
    await schema.query(`drop role ${role}`);
  });

  test('that are used up are told as 503, and found again when there are some', async () => {
    const store = postgres(url.href, { schema: schema.name, connections: 2 });
    const app = runtime({ app: 'shop', store, recover: 'manual' });
    const { get, post } = callerOf(app);
    const others = Array.from(
      { length: mostConnections },
      () => new pg.Client({ connectionString: url.href }),
    );
    await Promise.all(others.map((client) => client.connect()));

    const refused = await post('/v1/sessions', { id: 'one' });
    expect(refused).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await get('/v1/ready')).toMatchObject({
      status: 503,
      body: { status: 'not_ready', store: 'unavailable' },
    });

    await Promise.all(others.map((client) => client.end()));
    let made = await post('/v1/sessions', { id: 'one' });
    // PostgreSQL counts a connection until its process has ended.
    while (made.status === 503) made = await post('/v1/sessions', { id: 'one' });
    expect(made.status).toBe(201);
    await app.close();
  });

  test('stay within the budget of the store, those that follow included', async () => {
    const store = postgres(url.href, { schema: schema.name, connections: 2 });
    const app = runtime({ app: 'budget', store, recover: 'manual' });
    const session = await app.sessions.create({ id: 'followed' });
    const following = app.follow('followed')[Symbol.asyncIterator]();
    const next = following.next();
    const made = Array.from({ length: 40 }, (_, i) => app.sessions.create({ id: `s${i}` }));
    await Promise.all(made);
    const [{ connections } = { connections: 0 }] = await schema.query(
      'select count(*)::int as connections from pg_stat_activity where usename = $1',
      [role],
    );
    expect(connections).toBeLessThanOrEqual(2);
    expect(session.id).toBe('followed');
    await following.return?.(undefined);
    await next.catch(() => undefined);
    await app.close();
  });
});

test.each([1, 0, 2.5, 'many'])('a budget of connections that is none is refused: %j', (value) => {
  expect(() => postgres('postgres://db/shop', { connections: value as number })).toThrow(
    'connections',
  );
});
