import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryStore, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { apiKeys, server } from '../../src/index.ts';
import { ask, world } from './caller.ts';
import { folder } from './key-folder.ts';

const dayMs = 86_400_000;

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
