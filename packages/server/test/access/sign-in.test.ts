import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runtime } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { apiKeys, server } from '../../src/index.ts';
import { ask, fromAddress, world } from './caller.ts';
import { folder } from './key-folder.ts';
import { asPage, own, secret, signedIn, signIn, token } from './page.ts';

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
