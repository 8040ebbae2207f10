import { memoryStore, runtime } from 'adjutant';
import { describe, expect, onTestFinished, test } from 'vitest';
import { apiKeys, type ServerOptions, server } from '../../src/index.ts';
import { ask, world } from './caller.ts';
import { asPage, signedIn, signIn } from './page.ts';

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
