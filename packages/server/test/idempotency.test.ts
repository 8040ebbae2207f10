import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, runtime, type Store } from 'adjutant';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { newPool, newSchema, reasonToSkip } from '../../core/test/stores/postgres/server.ts';
import { server } from '../src/index.ts';
import { bearer, send, tokenAuth, waitingServer } from './approvals/paying-app.ts';
import { isReplayed, keptIn, key, seen } from './repeated-writes.ts';

const folder = mkdtempSync(join(tmpdir(), 'idempotency-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a write with a key', () => {
  test('that is sent again gets the same answer, and is carried out once', async () => {
    const { api, requestId } = await waitingServer();
    const path = `/v1/approvals/${requestId}`;
    const first = await send(api, 'POST', path, { decision: 'approve' }, key('k1'));
    expect([first.status, isReplayed(first)]).toEqual([200, false]);
    const second = await send(api, 'POST', path, { decision: 'approve' }, key('k1'));
    expect(seen(second)).toEqual(seen(first));
    expect(isReplayed(second)).toBe(true);
    expect((await send(api, 'POST', path, { decision: 'approve' }, key('k2'))).status).toBe(409);
    expect((await send(api, 'POST', path, { decision: 'approve' })).status).toBe(409);
  });

  test('makes one session and one run, and tells the address again', async () => {
    const { api, app } = await waitingServer();
    const before = (await app.sessions.list()).sessions.length;
    for (const [path, body] of [
      ['/v1/sessions', { user: 'ann' }],
      ['/v1/runs', { agent: 'payer', input: 'Pay' }],
    ] as const) {
      const [first, ...others] = await Promise.all(
        [0, 1, 2].map(() => send(api, 'POST', path, body, key(`new ${path}`))),
      );
      const again = await send(api, 'POST', path, body, key(`new ${path}`));
      const made = [first, ...others].filter((answer) => answer?.status !== 409);
      expect(again.headers.get('location')).not.toBeNull();
      for (const answer of made) expect(seen(answer as typeof again)).toEqual(seen(again));
    }
    expect((await app.sessions.list()).sessions.length).toBe(before + 2);
  });

  test('is known by its body as JSON, not by its text', async () => {
    const { api, requestId } = await waitingServer();
    const path = `/v1/approvals/${requestId}`;
    await send(api, 'POST', path, '{"decision":"approve","reason":"x"}', key('k'));
    expect(
      isReplayed(
        await send(api, 'POST', path, '{ "reason": "x", "decision": "approve" }', key('k')),
      ),
    ).toBe(true);
  });

  test.each([
    ['another body', 'POST', '', { decision: 'reject' }, {}],
    ['another path', 'POST', 'x', { decision: 'approve' }, {}],
    ['another query', 'POST', '?x=1', { decision: 'approve' }, {}],
    ['a stream wanted', 'POST', '', { decision: 'approve' }, { accept: 'text/event-stream' }],
  ])('cannot be reused with %s', async (_what, method, more, body, headers) => {
    const { api, requestId } = await waitingServer();
    const path = `/v1/approvals/${requestId}`;
    await send(api, 'POST', path, { decision: 'approve' }, key('k'));
    expect(
      await send(api, method, `${path}${more}`, body, { ...key('k'), ...headers }),
    ).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
  });

  test('belongs to its caller', async () => {
    const { api, requestIds } = await waitingServer({
      payments: [{ cents: 1 }, { cents: 2 }],
      server: tokenAuth,
    });
    const [ann, bob] = [await bearer({ sub: 'ann' }), await bearer({ sub: 'bob' })];
    const first = await send(
      api,
      'POST',
      `/v1/approvals/${requestIds[0]}`,
      { decision: 'approve' },
      { ...ann, ...key('k') },
    );
    const second = await send(
      api,
      'POST',
      `/v1/approvals/${requestIds[1]}`,
      { decision: 'reject' },
      { ...bob, ...key('k') },
    );
    expect([first.status, second.status, isReplayed(second)]).toEqual([200, 200, false]);
  });

  test.each(['', '""', 'x'.repeat(256), '"open', 'tab\tin it', 'umläut', '"a" b'])(
    'must be a key: %j',
    async (header) => {
      const { api, requestId, store } = await waitingServer();
      expect(
        await send(api, 'POST', `/v1/approvals/${requestId}`, { decision: 'approve' }, key(header)),
      ).toMatchObject({
        status: 400,
        body: { code: 'invalid_idempotency_key' },
      });
      expect((await send(api, 'GET', `/v1/approvals/${requestId}`)).body.status).toBe('pending');
      expect(await keptIn(store)).toBe(0);
    },
  );

  test('has the same key with quotes and without', async () => {
    const { api, requestId } = await waitingServer();
    const path = `/v1/approvals/${requestId}`;
    await send(api, 'POST', path, { decision: 'approve' }, key('a"b\\c'));
    expect(
      isReplayed(await send(api, 'POST', path, { decision: 'approve' }, key('"a\\"b\\\\c"'))),
    ).toBe(true);
  });

  test('that was refused is refused again, in the same words', async () => {
    const { api, requestId, store } = await waitingServer();
    const path = `/v1/approvals/${requestId}`;
    const wrong = { decision: 'edit', args: { cents: 'x' } };
    const first = await send(api, 'POST', path, wrong, key('k'));
    const second = await send(api, 'POST', path, wrong, key('k'));
    expect([seen(second), isReplayed(second)]).toEqual([seen(first), true]);
    expect(second.body.code).toBe('input_mismatch');
    // A malformed or forbidden request leaves nothing.
    await send(api, 'POST', path, { nonsense: 1 }, key('other'));
    expect(await keptIn(store)).toBe(1);
  });

  test(
    'is another one under a credential of the same subject that is bound to ' + 'somebody else',
    async () => {
      const { api } = await waitingServer({ server: tokenAuth });
      const bounds = [{ user: 'ann' }, { user: 'bob' }, {}, { agents: ['payer'] }];
      const addresses: (string | null)[] = [];
      for (const bound of bounds) {
        const sent = { ...(await bearer({ sub: 'gateway', ...bound })), ...key('order-1') };
        const first = await send(api, 'POST', '/v1/sessions', {}, sent);
        expect([first.status, isReplayed(first)]).toEqual([201, false]);
        expect(isReplayed(await send(api, 'POST', '/v1/sessions', {}, sent))).toBe(true);
        addresses.push(first.headers.get('location'));
      }
      expect(new Set(addresses).size).toBe(bounds.length);
    },
  );

  test('keeps nothing that was asked for, and no secret that was answered', async () => {
    const { api, requestId, store } = await waitingServer();
    const link = await send(api, 'POST', `/v1/approvals/${requestId}/link`, {}, key('my-key'));
    const again = await send(api, 'POST', `/v1/approvals/${requestId}/link`, {}, key('my-key'));
    expect([link.status, again.status, again.body.token]).toEqual([201, 201, link.body.token]);
    await send(
      api,
      'POST',
      `/v1/approvals/${requestId}`,
      { decision: 'reject', reason: 's3cret reason' },
      key('my-key-2'),
    );
    const ledgers = store.for({ tenant: 'default', app: 'shop:http' });
    let text = '';
    for (const { id } of await ledgers.list())
      for await (const page of ledgers.read(id)) text += id + JSON.stringify(page);
    expect(text).toContain('fingerprint');
    for (const secret of [link.body.token, 'my-key', 's3cret']) expect(text).not.toContain(secret);
  });
});

const schema = newSchema();
const pool = newPool();
afterAll(async () => {
  await schema.drop();
  await pool.end();
});
/** Each is opened twice, as two processes do. */
const stores: readonly [string, () => readonly [Store, Store], string | undefined][] = [
  [
    'memory',
    () => {
      const store = memoryStore();
      return [store, store];
    },
    undefined,
  ],
  ['SQLite', () => [sqlite(join(folder, 'twice.db')), sqlite(join(folder, 'twice.db'))], undefined],
  [
    'PostgreSQL',
    () => [postgres({ pool, schema: schema.name }), postgres({ pool, schema: schema.name })],
    reasonToSkip,
  ],
];

describe.each(stores)('on %s', (name, open, skipped) => {
  test.skipIf(skipped !== undefined)(
    'whatever is sent, and however often, is carried out once for each key',
    { timeout: 60_000 },
    async () => {
      const [one, two] = open();
      const options = { app: 'shop', runnables: [], recover: 'manual' } as const;
      const apps = [
        runtime({ ...options, store: one }),
        runtime({ ...options, store: two }),
      ] as const;
      const servers = [server(apps[0]), server(apps[1])] as const;
      let round = 0;
      const sending = fc.record({
        key: fc.integer({ min: 0, max: 2 }),
        server: fc.constantFrom(...servers),
        waits: fc.boolean(),
      });
      const property = fc.asyncProperty(fc.array(sending, { maxLength: 12 }), async (sendings) => {
        round += 1;
        const user = `${name}-${round}`;
        const answers = new Map<number, unknown[]>();
        const all: Promise<void>[] = [];
        for (const { key: number, server: api, waits } of sendings) {
          const sent = send(
            api,
            'POST',
            '/v1/sessions',
            { user, permissions: [`n:${number}`] },
            key(`${user}-${number}`),
          ).then((answer) => {
            if (answer.status === 409) expect(answer.body.code).toBe('idempotency_key_in_use');
            else answers.set(number, [...(answers.get(number) ?? []), seen(answer)]);
          });
          all.push(sent);
          if (waits) await sent;
        }
        await Promise.all(all);
        const keys = new Set(sendings.map(({ key: number }) => number));
        expect((await apps[0].sessions.list({ user })).sessions).toHaveLength(keys.size);
        expect(answers.size).toBe(keys.size);
        for (const given of answers.values())
          for (const answer of given) expect(answer).toEqual(given[0]);
      });
      await fc.assert(property, { numRuns: 25 });
      for (const api of servers) await api.close();
      for (const app of apps) await app.close();
    },
  );
});
