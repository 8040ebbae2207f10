import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, runtime, type Store } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ApiKeys } from '../../src/access/api-keys.ts';
import { apiKeys, server } from '../../src/index.ts';
import { changedStore } from '../changed-store.ts';
import { ask, world } from './caller.ts';

const dayMs = 86_400_000;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'adjutant-keys-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe('an API key', () => {
  test('lets in whoever has it, as what it was made for', async () => {
    const { api, keys } = world();
    const { credential, key } = await keys.create({ name: 'ci', roles: ['admin'] });
    expect(credential).toMatch(new RegExp(`^adj_${key.id}_[a-z0-9]{48}$`));
    const { status, body } = await ask(api, 'GET /v1/keys', { as: credential });
    expect(status).toBe(200);
    expect(body.keys).toEqual([key]);
    expect(key).toMatchObject({
      name: 'ci',
      tenant: 'default',
      roles: ['admin'],
      createdBy: 'operator',
    });
    expect(key.expiresAt - key.createdAt).toBeGreaterThan(364 * dayMs);
  });

  test('is nowhere in the store, but for the hash of its secret', async () => {
    const path = join(folder(), 'keys.db');
    const app = runtime({ app: 'shop', store: sqlite(path), recover: 'manual' });
    const { credential, key } = await apiKeys(app).create({ name: 'ci', roles: ['viewer'] });
    const rotated = await apiKeys(app).rotate(key.id);
    await app.close();
    const bytes = readFileSync(path, 'latin1');
    expect(bytes).toContain(key.id);
    for (const issued of [credential, rotated.credential])
      expect(bytes).not.toContain(issued.split('_')[2]);
  });

  test(
    'is in no error and no audit log when somebody gives it in the place ' + 'of its id',
    async () => {
      const { api, keys } = world();
      const { credential, key } = await keys.create({ name: 'ci', roles: ['admin'] });
      const secret = credential.split('_')[2] as string;
      const refused = await ask(api, `DELETE /v1/keys/${credential}`, { as: credential });
      expect([refused.status, refused.body.code]).toEqual([404, 'api_key_not_found']);
      expect(refused.body.detail).toContain(`adj_${key.id}_…`);
      const audit = await ask(api, 'GET /v1/audit', { as: credential });
      expect(JSON.stringify(audit.body)).toContain(`adj_${key.id}_…`);
      expect(JSON.stringify([refused.body, audit.body])).not.toContain(secret);
      await expect(keys.revoke(credential)).rejects.not.toThrow(secret);
    },
  );

  test.each<[unknown, string]>([
    [undefined, 'the options must be an object'],
    [{ name: 'ci', roles: ['viewer'], expires: '90d' }, 'there is no option `expires`'],
    [
      { name: 'ci', roles: ['viewer'], users: 'ann' },
      'there is no option `users` (did you mean `user`?)',
    ],
  ])('is not made with %j', async (options, reason) => {
    const { keys } = world();
    await expect(keys.create(options as never)).rejects.toThrow(reason);
    expect(await keys.list()).toEqual([]);
  });

  test('is of an app', () => {
    expect(() => apiKeys({} as never)).toThrow('apiKeys(runtime({ app: … }))');
  });

  test('is accepted until its time is over', async () => {
    const clock = testClock();
    const { api, key } = world({ clock });
    const as = await key({ expiresInMs: 1_000 });
    clock.advance(999);
    expect((await ask(api, 'GET /v1/keys', { as })).status).toBe(200);
    clock.advance(1);
    expect((await ask(api, 'GET /v1/keys', { as })).status).toBe(401);
  });

  test('is revoked in all processes with their next request', async () => {
    const path = join(folder(), 'keys.db');
    const servers = [1, 2].map(() => {
      const app = runtime({ app: 'shop', store: sqlite(path), recover: 'manual' });
      const api = server(app, { auth: {} });
      onTestFinished(async () => {
        await api.close();
        await app.close();
      });
      return { app, api };
    });
    const [one, two] = servers as [(typeof servers)[0], (typeof servers)[0]];
    const { credential, key } = await apiKeys(one.app).create({ name: 'ci', roles: ['admin'] });
    for (const { api } of servers)
      expect((await ask(api, 'GET /v1/keys', { as: credential })).status).toBe(200);
    expect((await ask(one.api, `DELETE /v1/keys/${key.id}`, { as: credential })).status).toBe(200);
    expect((await ask(two.api, 'GET /v1/keys', { as: credential })).status).toBe(401);
  });

  test(
    'that was rotated is accepted with both secrets for a while, and never with ' + 'one before',
    async () => {
      const clock = testClock();
      const { api, keys } = world({ clock });
      const status = async (as: string): Promise<number> =>
        (await ask(api, 'GET /v1/keys', { as })).status;
      const first = await keys.create({ name: 'ci', roles: ['admin'] });
      const second = await keys.rotate(first.key.id, { graceMs: 60_000 });
      expect(second.key).toMatchObject({ id: first.key.id, previousUntil: clock.now() + 60_000 });
      expect([await status(first.credential), await status(second.credential)]).toEqual([200, 200]);
      const third = await keys.rotate(first.key.id, { graceMs: 60_000 });
      expect([
        await status(first.credential),
        await status(second.credential),
        await status(third.credential),
      ]).toEqual([401, 200, 200]);
      clock.advance(60_000);
      expect([await status(second.credential), await status(third.credential)]).toEqual([401, 200]);
      await keys.revoke(first.key.id);
      expect(await status(third.credential)).toBe(401);
    },
  );

  test.for([
    'adj_',
    'adj_x_y',
    'adj__',
    'ADJ_a_b',
    'x'.repeat(9_000),
    'adj_ffffffffffffffff_ffffffffffffffffffffffffffffffffffffffffffffffff',
    '::',
    'a b',
  ])('that is none lets nobody in: %j', async (as) => {
    const { api } = world();
    expect(await ask(api, 'GET /v1/keys', { as })).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
    });
  });

  test(
    'with a wrong secret, another id or something more is as wrong as none, in the very same ' +
      'words',
    async () => {
      const { api, keys } = world();
      const one = await keys.create({ name: 'one', roles: ['admin'] });
      const two = await keys.create({ name: 'two', roles: ['admin'] });
      const [, , secret] = one.credential.split('_');
      const wrong = [
        `adj_${two.key.id}_${secret}`,
        `${one.credential}0`,
        one.credential.slice(0, -1),
        one.credential.toUpperCase(),
        `${one.credential} x`,
      ];
      const answers = await Promise.all(
        [undefined, ...wrong].map((as) => ask(api, 'GET /v1/keys', { as })),
      );
      const told = answers.map(({ status, headers, body: { instance, ...body } }) => ({
        status,
        challenge: headers.get('www-authenticate'),
        body,
      }));
      expect(told[0]).toMatchObject({ status: 401, challenge: 'Bearer realm="adjutant"' });
      for (const answer of told) expect(answer).toEqual(told[0]);
    },
  );

  test('is not looked for in the address', async () => {
    const { api, key } = world();
    const as = await key();
    for (const name of ['access_token', 'key', 'token', 'authorization']) {
      expect((await ask(api, `GET /v1/keys?${name}=${as}`)).status).toBe(401);
    }
  });

  test('cannot be asked about when the store does not answer', async () => {
    const errors: unknown[] = [];
    const store = memoryStore();
    const { api, key } = world({ store, onError: (error) => errors.push(error) });
    const as = await key();
    expect((await ask(api, 'GET /v1/keys', { as })).status).toBe(200);
    await store.close();
    expect(await ask(api, 'GET /v1/keys', { as })).toMatchObject({
      status: 503,
      body: { code: 'store_unavailable' },
    });
    expect(errors).toHaveLength(1);
  });

  test('is of no use where no keys are accepted', async () => {
    const { api, key } = world({ auth: { keys: false, jwt: { secret: 's'.repeat(32) } } });
    expect((await ask(api, 'GET /v1/keys', { as: await key() })).status).toBe(401);
  });
});

describe('keys are refused', () => {
  test.for([
    [{ name: '' }, 'name'],
    [{ name: 'a\nb' }, 'name'],
    [{ roles: [] }, 'roles'],
    [{ roles: ['root'] }, 'roles'],
    [{ tenant: 'adjutant:system' }, 'adjutant:system'],
    [{ tenant: ' ' }, 'tenant'],
    [{ user: '' }, 'user'],
    [{ agents: [] }, 'agents'],
    [{ expiresInMs: 0 }, 'expiresInMs'],
    [{ expiresInMs: Number.POSITIVE_INFINITY }, 'expiresInMs'],
  ] as [object, string][])('with %j', async ([asked, word]) => {
    const { keys } = world();
    await expect(keys.create({ name: 'x', roles: ['viewer'], ...asked })).rejects.toMatchObject({
      code: 'invalid_api_key',
      message: expect.stringContaining(word),
    });
    expect(await keys.list()).toEqual([]);
  });

  test('when they are over, or are none', async () => {
    const { keys } = world();
    const { key } = await keys.create({ name: 'x', roles: ['viewer'] });
    await keys.revoke(key.id);
    await keys.revoke(key.id);
    await expect(keys.rotate(key.id)).rejects.toMatchObject({
      code: 'api_key_state',
      data: { state: 'revoked' },
    });
    await expect(keys.rotate('none')).rejects.toMatchObject({ code: 'api_key_not_found' });
    await expect(keys.revoke('none')).rejects.toMatchObject({ code: 'api_key_not_found' });
  });
});

describe('the routes of keys', () => {
  test('make a key that can do what it was made for, and show it once', async () => {
    const { api, key } = world();
    const as = await key();
    const made = await ask(api, 'POST /v1/keys', {
      as,
      body: { name: 'look', roles: ['viewer'], user: 'ann' },
      headers: { 'idempotency-key': 'once' },
    });
    expect(made).toMatchObject({
      status: 201,
      body: { key: { name: 'look', roles: ['viewer'], user: 'ann', tenant: 'default' } },
    });
    const { credential, key: shown } = made.body;
    expect(made.headers.get('location')).toBe(`/v1/keys/${shown.id}`);
    expect((await ask(api, 'GET /v1/keys', { as: credential })).status).toBe(403);
    const again = await ask(api, 'POST /v1/keys', {
      as,
      body: { name: 'look', roles: ['viewer'], user: 'ann' },
      headers: { 'idempotency-key': 'once' },
    });
    expect(again.status).toBe(409);
    const { text, body } = await ask(api, 'GET /v1/keys', { as });
    expect(body.keys).toHaveLength(2);
    expect(text).not.toContain(credential.split('_')[2]);
  });

  test('rotate and revoke', async () => {
    const { api, key } = world();
    const as = await key();
    const { body: made } = await ask(api, 'POST /v1/keys', {
      as,
      body: { name: 'x', roles: ['admin'] },
    });
    const rotated = await ask(api, `POST /v1/keys/${made.key.id}/rotate`, {
      as,
      body: { graceMs: 0 },
    });
    expect(rotated.status).toBe(200);
    expect((await ask(api, 'GET /v1/keys', { as: made.credential })).status).toBe(401);
    expect((await ask(api, 'GET /v1/keys', { as: rotated.body.credential })).status).toBe(200);
    expect((await ask(api, `DELETE /v1/keys/${made.key.id}`, { as })).status).toBe(200);
    expect((await ask(api, 'GET /v1/keys', { as: rotated.body.credential })).status).toBe(401);
    expect(await ask(api, `POST /v1/keys/${made.key.id}/rotate`, { as, body: {} })).toMatchObject({
      status: 409,
      body: { code: 'api_key_state' },
    });
  });

  test('show and change those of one tenant only', async () => {
    const { api, keys, key } = world();
    const [left, right] = [await key({ tenant: 'left' }), await key({ tenant: 'right' })];
    const [other] = await keys.list({ tenant: 'right' });
    const id = other?.id ?? '';
    const { body } = await ask(api, 'GET /v1/keys', { as: left });
    expect(body.keys).toMatchObject([{ tenant: 'left' }]);
    expect((await ask(api, `DELETE /v1/keys/${id}`, { as: left })).status).toBe(404);
    expect((await ask(api, `POST /v1/keys/${id}/rotate`, { as: left, body: {} })).status).toBe(404);
    expect((await ask(api, 'GET /v1/keys', { as: right })).status).toBe(200);
    expect(
      (
        await ask(api, 'POST /v1/keys', {
          as: left,
          body: { name: 'x', roles: ['viewer'], tenant: 'right' },
        })
      ).status,
    ).toBe(400);
  });

  test('give nobody more than whoever gives it has', async () => {
    const { api, keys, key } = world();
    const as = await key({ user: 'ann', agents: ['clerk', 'cook'] });
    const { key: whole } = await keys.create({ name: 'whole', roles: ['admin'] });
    const make = (more: object) =>
      ask(api, 'POST /v1/keys', { as, body: { name: 'x', roles: ['operator'], ...more } });
    expect((await make({ user: 'bob' })).status).toBe(403);
    expect((await make({ agents: ['clerk', 'boss'] })).status).toBe(403);
    expect(await make({})).toMatchObject({
      status: 201,
      body: { key: { user: 'ann', agents: ['clerk', 'cook'] } },
    });
    expect(await make({ agents: ['cook'] })).toMatchObject({
      status: 201,
      body: { key: { user: 'ann', agents: ['cook'] } },
    });
    expect((await ask(api, `POST /v1/keys/${whole.id}/rotate`, { as, body: {} })).status).toBe(404);
    expect((await ask(api, `DELETE /v1/keys/${whole.id}`, { as })).status).toBe(404);
    expect(
      (await ask(api, 'GET /v1/keys', { as })).body.keys.map(({ name }: { name: string }) => name),
    ).not.toContain('whole');
  });
});

describe('the ledger of keys', () => {
  const place = { tenant: 'adjutant:system', app: 'shop:keys' };

  test('is written by many processes at once', async () => {
    const path = join(folder(), 'keys.db');
    const apps = [1, 2, 3].map(() =>
      runtime({ app: 'shop', store: sqlite(path), recover: 'manual' }),
    );
    await Promise.all(
      apps.flatMap((app, index) =>
        [1, 2, 3, 4].map((part) =>
          apiKeys(app).create({ name: `${index}.${part}`, roles: ['viewer'] }),
        ),
      ),
    );
    const names = (await apiKeys(apps[0] as (typeof apps)[0]).list()).map(({ name }) => name);
    expect(new Set(names).size).toBe(12);
    for (const app of apps) await app.close();
  });

  test('opens nothing any more when something in it cannot be read', async () => {
    const inner = memoryStore();
    let isDamaged = false;
    const store = readingOtherwise(inner, () => isDamaged);
    const { api, key } = world({ store });
    const as = await key();
    expect((await ask(api, 'GET /v1/keys', { as })).status).toBe(200);
    isDamaged = true;
    await key();
    expect((await ask(api, 'GET /v1/keys', { as })).status).toBe(401);
    expect(await inner.for(place).head('api-keys')).toMatchObject({ seq: 2 });
  });

  /**
   * Commands on two keys, and time; after each, what is accepted is what a plain model of keys
   * says.
   */
  test('lets in whom a plain model of keys would', async () => {
    const command = fc.oneof(
      fc.record({ type: fc.constant('create' as const), life: fc.integer({ min: 1, max: 20 }) }),
      fc.record({
        type: fc.constantFrom('revoke' as const, 'rotate' as const),
        which: fc.nat(3),
        graceMs: fc.nat(10),
      }),
      fc.record({ type: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 8 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 25 }), async (commands) => {
        const clock = testClock();
        const app = runtime({
          app: 'shop',
          store: memoryStore({ clock }),
          recover: 'manual',
          ports: { clock },
        });
        const api = server(app, {
          auth: {},
          ports: { clock },
          limits: { requestsPerMinute: false, failuresPerMinute: 100_000 },
        });
        const keys = new ApiKeys(app, { clock });
        const ids: string[] = [];
        /** Until when each credential is accepted. */
        const model: { id: string; credential: string; until: number; isLast: boolean }[] = [];
        for (const next of commands) {
          const now = clock.now();
          if (next.type === 'wait') clock.advance(next.ms);
          if (next.type === 'create') {
            const { key, credential } = await keys.create({
              name: 'x',
              roles: ['admin'],
              expiresInMs: next.life,
            });
            ids.push(key.id);
            model.push({ id: key.id, credential, until: now + next.life, isLast: true });
          }
          if (next.type === 'revoke' || next.type === 'rotate') {
            const id = ids[next.which];
            if (id === undefined) continue;
            const own = model.filter((entry) => entry.id === id);
            if (next.type === 'revoke') {
              await keys.revoke(id);
              for (const entry of own) entry.until = 0;
              continue;
            }
            const last = own.find(({ isLast }) => isLast);
            const isOver = (last?.until ?? 0) <= now;
            const rotated = await keys
              .rotate(id, { graceMs: next.graceMs, expiresInMs: 15 })
              .catch(() => undefined);
            expect(rotated === undefined).toBe(isOver);
            if (rotated === undefined) continue;
            for (const entry of own) {
              entry.until = entry.isLast ? Math.min(now + next.graceMs, entry.until) : 0;
              entry.isLast = false;
            }
            model.push({ id, credential: rotated.credential, until: now + 15, isLast: true });
          }
        }
        for (const { credential, until } of model) {
          expect((await ask(api, 'GET /v1/keys', { as: credential })).status).toBe(
            clock.now() < until ? 200 : 401,
          );
        }
        await api.close();
        await app.close();
      }),
      { numRuns: 60 },
    );
  });
});

/** A store whose events after the first come as damaged once `isDamaged` says so. */
function readingOtherwise(inner: Store, isDamaged: () => boolean): Store {
  return changedStore(inner, (ledgers) => ({
    async *readStored(...args) {
      for await (const page of ledgers.readStored(...args)) {
        yield page.map((event) =>
          isDamaged() && event.seq > 1
            ? { type: 'unreadable' as const, seq: event.seq, reason: 'it is damaged' }
            : event,
        );
      }
    },
  }));
}
