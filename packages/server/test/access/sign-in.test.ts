import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { memoryStore, runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import { SignJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type AdjutantServer, apiKeys, type ServerOptions, server } from '../../src/index.ts';
import { type Answered, ask, fromAddress, type World, world } from './caller.ts';
import { folder } from './key-folder.ts';

const own = { origin: 'http://localhost' };
const secret = 's'.repeat(32);

interface Page {
  readonly cookie: string;
  readonly header: string;
}

async function signIn(api: AdjutantServer, credential: string, before = {}): Promise<Page> {
  const answer = await ask(api, 'POST /v1/sign-in', {
    body: { credential },
    headers: { ...own, ...before },
  });
  expect([answer.status, answer.text]).toEqual([204, '']);
  const header = answer.headers.get('set-cookie') ?? '';
  return { header, cookie: header.split(';')[0] as string };
}

function asPage(api: AdjutantServer, what: string, cookie: string, more = {}): Promise<Answered> {
  return ask(api, what, { headers: { cookie, ...own }, ...more });
}

function token(claims: object = {}, expiresAt = Date.now() / 1000 + 600): Promise<string> {
  return new SignJWT({ sub: 'mara', tenant: 'default', roles: ['operator'], ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime(expiresAt)
    .sign(new TextEncoder().encode(secret));
}

async function signedIn(options: ServerOptions = {}): Promise<World & Page & { id: string }> {
  const about = world(options);
  const { credential, key } = await about.keys.create({ name: 'page', roles: ['admin'] });
  return { ...about, ...(await signIn(about.api, credential)), id: key.id };
}

describe('a sign-in', () => {
  test('changes a key for a cookie, with which the page is who the key is', async () => {
    const { api, cookie, header, id } = await signedIn();
    expect(header).toMatch(
      /^adjutant_[0-9a-f]{8}=[a-z0-9_]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    );
    const { status, body } = await asPage(api, 'GET /v1/me', cookie);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ id: `key:${id}`, tenant: 'default', app: 'shop', roles: ['admin'] },
      permissions: ['read', 'chat', 'operate', 'audit', 'manage'],
      ...{ isLocal: false, isSignedIn: true, expiresAt: expect.any(Number) },
      ...{ version: expect.any(String), store: { kind: 'memory' } },
    });
    const made = await asPage(api, 'POST /v1/sessions', cookie, { body: {} });
    expect(made.status).toBe(201);
  });

  test('changes a token, whose caller it keeps until the token ends', async () => {
    const clock = testClock();
    const about = world({ clock, auth: { jwt: { secret } } });
    const exp = clock.now() / 1000 + 60;
    const credential = await token({ user: 'ann', agents: ['clerk'] }, exp);
    const { cookie, header } = await signIn(about.api, credential);
    // Clocks of issuers may differ by ten seconds.
    expect(header).toContain('Max-Age=70;');
    expect((await asPage(about.api, 'GET /v1/me', cookie)).body).toMatchObject({
      ...{ id: 'jwt:mara', roles: ['operator'], user: 'ann', agents: ['clerk'] },
      ...{ permissions: ['read', 'chat', 'operate'], expiresAt: (exp + 10) * 1000 },
    });
    clock.advance(69_999);
    expect((await asPage(about.api, 'GET /v1/me', cookie)).status).toBe(200);
    clock.advance(1);
    expect((await asPage(about.api, 'GET /v1/me', cookie)).status).toBe(401);
  });

  test('is nowhere in the store, and in no audit log', async () => {
    const path = join(folder(), 'keys.db');
    const app = runtime({ app: 'shop', store: sqlite(path), recover: 'manual' });
    const api = server(app, { auth: { jwt: { secret } } });
    const { credential } = await apiKeys(app).create({ name: 'page', roles: ['admin'] });
    const jwt = await token();
    const cookies = [await signIn(api, credential), await signIn(api, jwt)];
    await api.close();
    await app.close();
    const bytes = readFileSync(path, 'latin1');
    expect(bytes).toContain('sign_ins');
    for (const { cookie } of cookies) expect(bytes).not.toContain(cookie.split('_')[2]);
    for (const hidden of [secret, jwt, credential.split('_')[2]])
      expect(bytes).not.toContain(hidden);
  });

  test.for<[string, string]>([
    ['no credential', 'adj_ffffffffffffffff_ffffffffffffffffffffffffffffffffffffffffffffffff'],
    ['a forged token', 'a.b.c'],
    ['something else', 'hello'],
  ])('is refused with %s, in the words of every other refusal', async ([, credential]) => {
    const { api } = world();
    const answer = await ask(api, 'POST /v1/sign-in', { body: { credential }, headers: own });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(answer.headers.has('set-cookie')).toBe(false);
    expect(answer.text).not.toContain(credential);
  });

  test.for<[string, object]>([
    ['nothing in it', {}],
    ['a number', { credential: 7 }],
    ['no text', { credential: '' }],
    ['a text too long', { credential: 'x'.repeat(8_193) }],
    ['another member', { credential: 'x', user: 'ann' }],
  ])('is refused with a body that has %s', async ([, body]) => {
    const { api } = world();
    expect(await ask(api, 'POST /v1/sign-in', { body, headers: own })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });

  test('is refused too often from one address, as all calls without a credential', async () => {
    const { api, key } = world({ limits: { failuresPerMinute: 2 } });
    const env = fromAddress('192.0.2.7');
    const wrong = { body: { credential: 'wrong' }, headers: own, env };
    expect((await ask(api, 'GET /v1/me', { as: 'wrong', env })).status).toBe(401);
    expect((await ask(api, 'POST /v1/sign-in', wrong)).status).toBe(401);
    expect(await ask(api, 'POST /v1/sign-in', wrong)).toMatchObject({
      status: 429,
      body: { code: 'rate_limited' },
    });
    const right = { ...wrong, body: { credential: await key() } };
    expect((await ask(api, 'POST /v1/sign-in', right)).status).toBe(204);
  });

  test('is in the audit log with its caller, and so are refused ones and the end', async () => {
    const { api, key, cookie, id } = await signedIn();
    await ask(api, 'POST /v1/sign-in', { body: { credential: 'wrong' }, headers: own });
    await asPage(api, 'POST /v1/sign-out', cookie);
    const { body } = await ask(api, 'GET /v1/audit', { as: await key({ roles: ['auditor'] }) });
    const principal = `key:${id}`;
    expect(body.entries).toMatchObject([
      { action: 'signOut', principal, outcome: 'done', status: 204 },
      { action: 'signIn', principal: 'anonymous', outcome: 'denied', status: 401 },
      { action: 'signIn', principal, outcome: 'done', status: 204, actor: `operator:${principal}` },
    ]);
    expect(JSON.stringify(body)).not.toContain(cookie.split('=')[1]);
  });

  test('is not needed where no credentials are asked for, as the page can see', async () => {
    const { api } = world({ isOpen: true });
    const { body } = await ask(api, 'GET /v1/me');
    expect(body).toMatchObject({ id: 'local', isLocal: true, isSignedIn: false });
    expect(
      await ask(api, 'POST /v1/sign-in', { body: { credential: 'x' }, headers: own }),
    ).toMatchObject({ status: 409, body: { code: 'sign_in_unneeded' } });
    expect((await ask(api, 'POST /v1/sign-out', { headers: own })).status).toBe(204);
  });

  test('is not looked for in the address', async () => {
    const { api, cookie } = await signedIn();
    expect((await ask(api, `GET /v1/me?${cookie}`)).status).toBe(401);
  });

  test('does not stand in for a credential that is wrong', async () => {
    const { api, cookie } = await signedIn();
    for (const authorization of ['Bearer wrong', 'Basic YTpi'])
      expect((await ask(api, 'GET /v1/me', { headers: { cookie, authorization } })).status).toBe(
        401,
      );
  });
});

describe('the cookie', () => {
  test.for<[string, string, ServerOptions, Record<string, string>]>([
    ['https', 'Secure', {}, { origin: 'https://agents.example.com' }],
    ['a public address', '; Path=/agents/;', { publicUrl: 'https://a.example/agents' }, {}],
    [
      'a proxy that is trusted',
      'Secure',
      { trustProxy: 1 },
      { 'x-forwarded-host': 'a.example', origin: 'https://a.example' },
    ],
    ['no origin', 'Secure', {}, {}],
  ])('behind %s has %s', async ([, part, options, headers]) => {
    const { api, key } = world(options);
    const answer = await ask(api, 'POST /v1/sign-in', {
      ...{ body: { credential: await key() }, host: 'agents.example.com', headers },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('set-cookie')).toContain(part);
  });

  test('is of one app: servers of two on one machine leave each other alone', async () => {
    const { api, key } = world();
    const other = runtime({ app: 'other', store: memoryStore(), recover: 'manual' });
    const otherApi = server(other, { auth: {} });
    onTestFinished(async () => {
      await otherApi.close();
      await other.close();
    });
    const issued = await apiKeys(other).create({ name: 'x', roles: ['viewer'] });
    const one = await signIn(api, await key());
    const two = await signIn(otherApi, issued.credential);
    expect(one.cookie.split('=')[0]).not.toBe(two.cookie.split('=')[0]);
    const both = `${one.cookie}; ${two.cookie}`;
    expect((await asPage(api, 'GET /v1/me', both)).body.app).toBe('shop');
    expect((await asPage(otherApi, 'GET /v1/me', both)).body.app).toBe('other');
  });

  test.for<[string, Record<string, string>]>([
    ['without an origin', {}],
    ['of another site', { origin: 'https://evil.example' }],
    ['of another port of this machine', { origin: 'http://localhost:3000' }],
    ['of a page without an address', { origin: 'null' }],
    ['of an extension', { origin: 'chrome-extension://localhost' }],
  ])('changes nothing for a request %s', async ([, headers]) => {
    const { api, app, cookie } = await signedIn({ cors: { origins: ['*'] } });
    for (const what of ['POST /v1/sessions', 'POST /v1/sign-out', 'DELETE /v1/keys/none']) {
      expect(await ask(api, what, { headers: { cookie, ...headers }, body: {} })).toMatchObject({
        status: 403,
        body: { code: 'origin_not_allowed' },
      });
    }
    expect((await app.sessions.list()).sessions).toEqual([]);
    expect((await ask(api, 'GET /v1/me', { headers: { cookie, ...headers } })).status).toBe(200);
  });

  test('opens no socket for a page of another origin', async () => {
    const { api, app, cookie } = await signedIn({ cors: { origins: ['*'] } });
    await app.sessions.create({ id: 'one' });
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' };
    const headers = { ...upgrade, cookie, origin: 'https://evil.example' };
    expect(await ask(api, 'GET /v1/sessions/one/socket', { headers })).toMatchObject({
      status: 403,
      body: { code: 'origin_not_allowed' },
    });
  });

  test('may come from the public address, whatever name the server has behind it', async () => {
    const { api, key } = world({ publicUrl: 'https://a.example/agents' });
    const page = { host: 'backend:8787', headers: { origin: 'https://a.example' } };
    const body = { credential: await key() };
    const { headers } = await ask(api, 'POST /v1/sign-in', { ...page, body });
    const cookie = headers.get('set-cookie')?.split(';')[0] as string;
    const made = await ask(api, 'POST /v1/sessions', {
      ...{ ...page, body: {}, headers: { ...page.headers, cookie } },
    });
    expect(made.status).toBe(201);
  });

  test.for<[string, string, Record<string, string>]>([
    ['origin_not_allowed', 'agents.example.com', { origin: 'https://evil.example' }],
    ['sign_in_not_secure', 'agents.example.com', { origin: 'http://agents.example.com' }],
  ])('is refused as %s', async ([code, host, headers]) => {
    const { api, key } = world();
    const body = { credential: await key() };
    expect(await ask(api, 'POST /v1/sign-in', { body, host, headers })).toMatchObject({
      status: 403,
      body: { code },
    });
  });

  test.for(['', 'x', 'a_b', `${'a'.repeat(41)}_${'b'.repeat(48)}`, '__proto__'])(
    'that is none lets nobody in: %j',
    async (value) => {
      const { api, cookie } = await signedIn();
      const name = cookie.split('=')[0];
      const answer = await asPage(api, 'GET /v1/me', `${name}=${value}`);
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    },
  );

  test('with another secret, or that of another sign-in, lets nobody in', async () => {
    const { api, key, cookie } = await signedIn();
    const other = await signIn(api, await key());
    const mixed = `${cookie.split('_').slice(0, 2).join('_')}_${other.cookie.split('_')[2]}`;
    for (const wrong of [mixed, `${cookie}0`, cookie.slice(0, -1)])
      expect((await asPage(api, 'GET /v1/me', wrong)).status).toBe(401);
  });
});

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
