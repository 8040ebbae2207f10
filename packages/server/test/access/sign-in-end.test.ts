import { join } from 'node:path';
import { memoryStore, runtime } from 'adjutant';
import { encrypted, localKeys } from 'adjutant/encryption';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { client, type ServerProblemError } from '../../src/client/index.ts';
import { apiKeys, server } from '../../src/index.ts';
import { ask, type World, world } from './caller.ts';
import { folder } from './key-folder.ts';
import { asPage, own, secret, signedIn, signIn, token } from './page.ts';

describe('a sign-in ends', () => {
  test('with its key: roles, rotation and revocation count at once, in all processes', async () => {
    const path = join(folder(), 'keys.db');
    const [one, two] = [1, 2].map(() => {
      const app = runtime({ app: 'shop', store: sqlite(path), recover: 'manual' });
      const api = server(app, { auth: {} });
      onTestFinished(async () => {
        await api.close();
        await app.close();
      });
      return { app, api };
    }) as [Pick<World, 'app' | 'api'>, Pick<World, 'app' | 'api'>];
    const keys = apiKeys(one.app);
    const { credential, key } = await keys.create({ name: 'page', roles: ['admin'] });
    const { cookie } = await signIn(one.api, credential);
    expect((await asPage(two.api, 'GET /v1/me', cookie)).status).toBe(200);
    const rotated = await keys.rotate(key.id, { graceMs: 60_000 });
    expect((await asPage(two.api, 'GET /v1/me', cookie)).status).toBe(200);
    await keys.rotate(key.id, { graceMs: 0 });
    expect((await asPage(two.api, 'GET /v1/me', cookie)).status).toBe(401);
    expect((await ask(two.api, 'GET /v1/me', { as: rotated.credential })).status).toBe(401);
    const again = await keys.create({ name: 'page', roles: ['admin'] });
    const page = await signIn(two.api, again.credential);
    expect((await asPage(one.api, 'GET /v1/me', page.cookie)).status).toBe(200);
    await keys.revoke(again.key.id);
    for (const { api } of [one, two])
      expect((await asPage(api, 'GET /v1/me', page.cookie)).status).toBe(401);
  });

  test('with the sign-out, in all processes, and streams with it', async () => {
    const store = memoryStore();
    const about = world({ store });
    await about.app.sessions.create({ id: 'one' });
    const other = server(about.app, { auth: {} });
    onTestFinished(() => other.close());
    const { cookie } = await signIn(about.api, await about.key());
    const stream = await other.fetch(
      new Request('http://localhost/v1/sessions/one/stream', { headers: { cookie } }),
    );
    expect(stream.status).toBe(200);
    const read = stream.text();
    const out = await asPage(about.api, 'POST /v1/sign-out', cookie);
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toMatch(/^adjutant_[0-9a-f]{8}=; .*Max-Age=0;/);
    expect(await read).toContain('the credential has ended');
    expect((await asPage(other, 'GET /v1/me', cookie)).status).toBe(401);
    // Again is no error: whoever is signed out stays so.
    expect((await asPage(other, 'POST /v1/sign-out', cookie)).status).toBe(204);
  });

  test('and its streams with it when the key is revoked', async () => {
    const { app, api, keys, cookie, id } = await signedIn();
    await app.sessions.create({ id: 'one' });
    const stream = await api.fetch(
      new Request('http://localhost/v1/sessions/one/stream', { headers: { cookie } }),
    );
    const read = stream.text();
    await keys.revoke(id);
    expect(await read).toContain('the credential has ended');
  });

  test('after its time, whatever the key', async () => {
    const clock = testClock();
    const about = world({ clock, auth: { signInForMs: 5_000 } });
    await about.app.sessions.create({ id: 'one' });
    const { cookie } = await signIn(about.api, await about.key());
    const stream = await about.api.fetch(
      new Request('http://localhost/v1/sessions/one/stream', { headers: { cookie } }),
    );
    const read = stream.text();
    clock.advance(4_999);
    expect((await asPage(about.api, 'GET /v1/me', cookie)).status).toBe(200);
    clock.advance(1);
    expect(await read).toContain('the credential has ended');
    expect((await asPage(about.api, 'GET /v1/me', cookie)).status).toBe(401);
  });

  test('when the page signs in again, as whomever', async () => {
    const { api, key, cookie } = await signedIn();
    const next = await signIn(api, await key({ roles: ['viewer'] }), { cookie });
    expect((await asPage(api, 'GET /v1/me', cookie)).status).toBe(401);
    expect((await asPage(api, 'GET /v1/me', next.cookie)).body.roles).toEqual(['viewer']);
  });

  test('when tokens are checked in another way, or not at all', async () => {
    const store = memoryStore();
    const { app, api } = world({ store, auth: { jwt: { secret } } });
    const { cookie } = await signIn(api, await token());
    const jwt = { secret };
    for (const [auth, status] of [
      [{ jwt }, 200],
      [{ jwt: { secret: 't'.repeat(32) } }, 401],
      [{ jwt: { ...jwt, issuer: 'https://login.example.com' } }, 401],
      [{}, 401],
    ] as const) {
      const other = server(app, { auth });
      expect((await asPage(other, 'GET /v1/me', cookie)).status).toBe(status);
      await other.close();
    }
  });

  test('when no keys are accepted any more', async () => {
    const { app, cookie } = await signedIn();
    const other = server(app, { auth: { keys: false, jwt: { secret } } });
    onTestFinished(() => other.close());
    expect((await asPage(other, 'GET /v1/me', cookie)).status).toBe(401);
  });

  test('and is removed from the store some time after', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const { api, key } = world({ clock, store, auth: { signInForMs: 5_000 } });
    const signIns = store.for({ tenant: 'adjutant:system', app: 'shop:sign-ins' });
    await signIn(api, await key());
    await signIn(api, await key());
    expect(await signIns.list()).toHaveLength(2);
    clock.advance(3_600_000);
    await signIn(api, await key());
    await expect.poll(() => signIns.list()).toHaveLength(1);
  });

  test('also in an encrypted store', async () => {
    const keys = localKeys({ keys: [{ id: 'k1', key: Buffer.alloc(32, 1) }] });
    const about = world({ store: encrypted(memoryStore(), { keys }) });
    const { cookie } = await signIn(about.api, await about.key());
    expect((await asPage(about.api, 'GET /v1/me', cookie)).status).toBe(200);
    await asPage(about.api, 'POST /v1/sign-out', cookie);
    expect((await asPage(about.api, 'GET /v1/me', cookie)).status).toBe(401);
  });

  test('and nobody is let in while the store does not answer', async () => {
    const store = memoryStore();
    const about = world({ store, onError: () => undefined });
    const { cookie } = await signIn(about.api, await about.key());
    await store.close();
    expect(await asPage(about.api, 'GET /v1/me', cookie)).toMatchObject({
      status: 503,
      body: { code: 'store_unavailable' },
    });
  });
});

test('a page signs in, sees who it is and signs out with the client', async () => {
  const { api, key } = world();
  // A browser keeps the cookie of a page, and sends it with the requests of its scripts.
  let cookie = '';
  const browser = async (url: string, init: RequestInit): Promise<Response> => {
    const headers = { ...(init.headers as Record<string, string>), ...own, cookie };
    const response = await api.fetch(new Request(url, { ...init, headers }));
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return response;
  };
  const page = client({ url: 'http://localhost', fetch: browser });
  await expect(page.me()).rejects.toMatchObject({ code: 'unauthenticated', status: 401 });
  await expect(page.signIn('wrong')).rejects.toMatchObject({
    code: 'unauthenticated',
  } satisfies Partial<ServerProblemError>);
  await page.signIn(await key({ roles: ['viewer'], user: 'ann' }));
  expect(await page.me()).toMatchObject({ user: 'ann', permissions: ['read'], isSignedIn: true });
  await page.signOut();
  await expect(page.me()).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('the client tells at once that there were too many attempts', async () => {
  const { api } = world({ limits: { failuresPerMinute: 1 } });
  const asked: string[] = [];
  const browser = (url: string, init: RequestInit): Promise<Response> => {
    asked.push(url);
    return api.fetch(new Request(url, { ...init, headers: { ...init.headers, ...own } }));
  };
  const page = client({ url: 'http://localhost', fetch: browser });
  await expect(page.signIn('wrong')).rejects.toMatchObject({ status: 401 });
  await expect(page.signIn('wrong')).rejects.toMatchObject({ status: 429, code: 'rate_limited' });
  expect(asked).toHaveLength(2);
});
