import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAdjutantError, memoryStore, runtime, type Store } from 'adjutant';
import { StoreUnavailableError } from 'adjutant/errors';
import { postgres } from 'adjutant/postgres';
import { sqlite } from 'adjutant/sqlite';
import { eventually, testClock } from 'adjutant/testing';
import fc from 'fast-check';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { newPool, newSchema, reasonToSkip } from '../../core/test/stores/postgres/server.ts';
import { server } from '../src/index.ts';
import { bearer, payer, payTool, send, tokenAuth, waitingServer } from './approvals/paying-app.ts';

const folder = mkdtempSync(join(tmpdir(), 'idempotency-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const key = (text: string) => ({ 'idempotency-key': text });

/** What one sees of an answer. */
function seen({ status, body, headers }: Awaited<ReturnType<typeof send>>) {
  return { status, body, location: headers.get('location'), type: headers.get('content-type') };
}

function isReplayed({ headers }: { headers: Headers }): boolean {
  return headers.get('idempotency-replayed') === 'true';
}

/** How many keys are kept. */
async function keptIn(store: Store): Promise<number> {
  return (await store.for({ tenant: 'default', app: 'shop:http' }).list()).length;
}

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
    // What is not even a request, or not allowed, leaves nothing.
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

describe('in other processes', () => {
  test('the answer is known, also after a restart', async () => {
    const file = join(folder, 'restart.db');
    const { api, app, requestId } = await waitingServer({ store: sqlite(file) });
    const path = `/v1/approvals/${requestId}`;
    const first = await send(api, 'POST', path, { decision: 'approve' }, key('k'));
    await api.close();
    await app.close();
    const { pay } = payTool();
    const next = runtime({
      app: 'shop',
      store: sqlite(file),
      runnables: [payer(pay, [])],
      recover: 'manual',
    });
    const restarted = server(next);
    const again = await send(restarted, 'POST', path, { decision: 'approve' }, key('k'));
    expect([seen(again), isReplayed(again)]).toEqual([seen(first), true]);
    await restarted.close();
    await next.close();
  });

  test('a request that is under way is not carried out a second time', async () => {
    const memory = memoryStore();
    const gate = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    // The post of the answer takes long.
    const post = (): Promise<void> => {
      entered.resolve();
      return gate.promise;
    };
    const slow = around(memory, 'shop', { post });
    const { api, make, requestId, paid, app, session } = await waitingServer({ store: slow });
    const path = `/v1/approvals/${requestId}`;
    const first = send(api, 'POST', path, { decision: 'approve' }, key('k'));
    await entered.promise;
    for (const other of [api, server(make())]) {
      const meanwhile = await send(other, 'POST', path, { decision: 'approve' }, key('k'));
      expect(meanwhile).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } });
      expect(meanwhile.headers.get('retry-after')).toBe('1');
      expect((await send(other, 'POST', path, { decision: 'reject' }, key('k'))).status).toBe(422);
    }
    gate.resolve();
    expect((await first).status).toBe(200);
    expect(isReplayed(await send(api, 'POST', path, { decision: 'approve' }, key('k')))).toBe(true);
    await app.resume(session);
    expect(paid).toHaveLength(1);
  });

  test.each(['answer', 'session', 'run', 'batch'])(
    'a crash between the effect and the answer makes no second %s',
    async (what) => {
      const clock = testClock();
      const memory = memoryStore({ clock });
      // From the answer on nothing is written by the process any more, and its lease stays.
      const dying = around(memory, 'shop:http', {
        append: async ({ events }) => {
          if (events.some((event) => event.type === 'decision' && event.decision === 'answer'))
            throw new StoreUnavailableError({ store: 'memory', reason: 'gone' });
        },
        release: () =>
          Promise.reject(new StoreUnavailableError({ store: 'memory', reason: 'gone' })),
      });
      const ports = { ports: { clock } };
      const { api, app, requestId, paid, session } = await waitingServer({
        store: dying,
        runtime: ports,
        server: { ...ports, onError: () => undefined },
      });
      const next = server(
        runtime({
          app: 'shop',
          store: memory,
          runnables: [...app.runnables],
          recover: 'manual',
          ...ports,
        }),
        ports,
      );
      const [path, body] = {
        answer: [`/v1/approvals/${requestId}`, { decision: 'approve' }],
        batch: ['/v1/approvals', { answers: [{ requestId, decision: 'approve' }] }],
        session: ['/v1/sessions', {}],
        run: ['/v1/runs', { agent: 'payer', input: 'Pay' }],
      }[what] as [string, object];
      const first = await send(api, 'POST', path, body, key('k'));
      expect(first.status).toBeLessThan(300);
      const made = (await app.sessions.list()).sessions.length;
      expect((await send(next, 'POST', path, body, key('k'))).body.code).toBe(
        'idempotency_key_in_use',
      );
      clock.advance(16_000);
      const second = await send(next, 'POST', path, body, key('k'));
      expect([second.status, isReplayed(second), second.headers.get('location')]).toEqual([
        first.status,
        false,
        first.headers.get('location'),
      ]);
      if (what === 'batch') expect(second.body).toEqual(first.body);
      expect((await app.sessions.list()).sessions.length).toBe(made);
      expect(isReplayed(await send(next, 'POST', path, body, key('k')))).toBe(true);
      if (what === 'answer' || what === 'batch') await app.resume(session);
      expect(paid).toHaveLength(what === 'answer' || what === 'batch' ? 1 : 0);
    },
  );

  test(
    'a process that is killed between the effect and the answer makes no second session, and ' +
      'nobody waits for it',
    async () => {
      const file = join(folder, 'killed.db');
      const script = fileURLToPath(new URL('./dying-writer.ts', import.meta.url));
      const child = spawn(process.execPath, ['--conditions=adjutant-source', script, file, 'k'], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      await once(child.stdout, 'data');
      const app = runtime({ app: 'shop', store: sqlite(file), recover: 'manual' });
      const api = server(app);
      const [made] = (await app.sessions.list()).sessions;
      expect((await send(api, 'POST', '/v1/sessions', {}, key('k'))).body.code).toBe(
        'idempotency_key_in_use',
      );
      child.kill('SIGKILL');
      await once(child, 'close');
      const { status, body } = await send(api, 'POST', '/v1/sessions', {}, key('k'));
      expect([status, body.id]).toEqual([201, made?.id]);
      expect((await app.sessions.list()).sessions).toHaveLength(1);
      expect(isReplayed(await send(api, 'POST', '/v1/sessions', {}, key('k')))).toBe(true);
      await api.close();
      await app.close();
    },
  );

  test('what went wrong inside is not kept', async () => {
    const memory = memoryStore();
    let isDown = true;
    const store = around(memory, 'shop', {
      post: async () => {
        if (isDown) throw new StoreUnavailableError({ store: 'memory', reason: 'down' });
      },
    });
    const { api, requestId } = await waitingServer({ store, server: { onError: () => undefined } });
    const path = `/v1/approvals/${requestId}`;
    expect((await send(api, 'POST', path, { decision: 'approve' }, key('k'))).status).toBe(503);
    isDown = false;
    expect((await send(api, 'POST', path, { decision: 'approve' }, key('k'))).status).toBe(200);
  });
});

describe('what is kept', () => {
  test('is kept for as long as was asked, and removed then', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const ports = { ports: { clock } };
    const { api } = await waitingServer({
      store,
      runtime: ports,
      server: { ...ports, idempotency: { keepForMs: 60_000 } },
    });
    const [first, other] = [
      await send(api, 'POST', '/v1/sessions', {}, key('a')),
      await send(api, 'POST', '/v1/sessions', {}, key('b')),
    ];
    clock.advance(59_999);
    expect(isReplayed(await send(api, 'POST', '/v1/sessions', {}, key('a')))).toBe(true);
    expect(await keptIn(store)).toBe(2);
    clock.advance(1);
    const later = await send(api, 'POST', '/v1/sessions', {}, key('a'));
    expect([later.status, isReplayed(later)]).toEqual([201, false]);
    expect(later.headers.get('location')).not.toBe(first.headers.get('location'));
    clock.advance(60_001);
    await send(api, 'POST', '/v1/sessions', {}, key('c'));
    // Behind the request.
    const swept = async (): Promise<void> => ((await keptIn(store)) === 1 ? undefined : swept());
    await eventually(swept(), { what: 'the end of the sweep' });
    expect(other.status).toBe(201);
  });

  test('may be large', async () => {
    const file = join(folder, 'large.db');
    const payments = Array.from({ length: 60 }, (_, cents) => ({ cents, to: 'x'.repeat(500) }));
    const { api, app, requestIds } = await waitingServer({ payments, store: sqlite(file) });
    const body = {
      answers: requestIds.map((requestId) => ({
        requestId,
        decision: 'edit',
        args: { cents: 'x', ['y'.repeat(2_000)]: 1 },
      })),
    };
    const first = await send(api, 'POST', '/v1/approvals', body, key('k'));
    const second = await send(api, 'POST', '/v1/approvals', body, key('k'));
    expect([seen(second), isReplayed(second)]).toEqual([seen(first), true]);
    await api.close();
    await app.close();
  });
});

/** A store that does something before it writes in the ledgers of one app. */
function around(
  store: Store,
  app: string,
  before: {
    post?: () => Promise<void>;
    append?: (batch: { events: readonly { type: string; decision?: unknown }[] }) => Promise<void>;
    release?: () => Promise<never>;
  },
): Store {
  return {
    ...store,
    for: (scope) => {
      const ledgers = store.for(scope);
      if (scope.app !== app) return ledgers;
      return new Proxy(ledgers, {
        get(target, name) {
          const method = Reflect.get(target, name) as (...given: unknown[]) => unknown;
          const own = (
            before as Record<
              string | symbol,
              ((...given: unknown[]) => Promise<unknown>) | undefined
            >
          )[name];
          if (own === undefined) return method.bind(target);
          return async (...given: unknown[]) => {
            await own(...(name === 'append' ? [given[2]] : []));
            return method.apply(target, given);
          };
        },
      });
    },
  };
}

test('the reserved name is of another app', async () => {
  const { app, api } = await waitingServer();
  await send(api, 'POST', '/v1/sessions', {}, key('k'));
  const listed = (await app.sessions.list()).sessions;
  expect(listed.some(({ id }) => id.startsWith('key_'))).toBe(false);
  const missing = await app.sessions.stateAt('key_x').catch((error: unknown) => error);
  expect(isAdjutantError(missing, 'session_not_found')).toBe(true);
});
