import { describe, expect, test } from 'vitest';
import { assertMayListen } from '../../src/access/local-access.ts';
import { type Asked, ask, fromAddress, world } from './caller.ts';

const open = { isOpen: true };

describe('a server that asks for no credentials', () => {
  test.for<[string, Asked]>([
    ['the program itself', {}],
    ['this machine', { env: fromAddress('127.0.0.1') }],
    [
      'this machine, by another of its addresses',
      { env: fromAddress('127.8.9.10'), host: '127.0.0.1:8787' },
    ],
    ['this machine, by IPv6', { env: fromAddress('::1'), host: '[::1]:8787' }],
    ['this machine, by IPv4 in IPv6', { env: fromAddress('::ffff:127.0.0.1') }],
    ['a name of this machine', { host: 'agents.localhost:8787' }],
    ['a page of this machine', { headers: { origin: 'http://localhost:5173' } }],
    ['itself', { headers: { origin: 'http://127.0.0.1:8787', 'sec-fetch-site': 'same-origin' } }],
  ])('lets in %s', async ([, asked]) => {
    const { api } = world(open);
    expect((await ask(api, 'GET /v1/keys', asked)).status).toBe(200);
  });

  test.for<[string, Asked]>([
    ['another machine', { env: fromAddress('192.168.1.7') }],
    [
      'another machine that says it is this one',
      { env: fromAddress('10.0.0.1'), headers: { host: 'localhost' } },
    ],
    ['another machine, by IPv6', { env: fromAddress('fe80::1') }],
    [
      'a name that was made to lead here',
      { env: fromAddress('127.0.0.1'), host: 'evil.example:8787' },
    ],
    ['a name that looks like this machine', { host: 'localhost.evil.example' }],
    ['an address that looks like this machine', { host: '127.0.0.1.evil.example' }],
    [
      'a header that names another host than the address',
      { env: fromAddress('127.0.0.1'), headers: { host: 'evil.example' } },
    ],
    [
      'a page of another site',
      { env: fromAddress('127.0.0.1'), headers: { origin: 'https://evil.example' } },
    ],
    ['a page without a site', { headers: { origin: 'null' } }],
    ['a page of another site, by an image', { headers: { 'sec-fetch-site': 'cross-site' } }],
    [
      'whoever is behind a proxy',
      { env: fromAddress('127.0.0.1'), headers: { 'x-forwarded-for': '127.0.0.1' } },
    ],
    ['whoever is behind any proxy', { headers: { forwarded: 'for=10.0.0.1' } }],
  ])('lets in no %s', async ([, asked]) => {
    const { api } = world(open);
    expect(await ask(api, 'GET /v1/keys', asked)).toMatchObject({
      status: 403,
      body: { code: 'only_local' },
    });
  });

  test('lets in pages that are named, but not all pages', async () => {
    const origin = 'https://app.example';
    const named = world({ ...open, cors: { origins: [origin] } });
    expect((await ask(named.api, 'GET /v1/keys', { headers: { origin } })).status).toBe(200);
    const all = world({ ...open, cors: { origins: ['*'] } });
    expect((await ask(all.api, 'GET /v1/keys', { headers: { origin } })).status).toBe(403);
  });

  test.for(['0.0.0.0', '', '::', '192.168.1.7', 'example.com', 'localhost.example'])(
    'may not listen on %j',
    (hostname) => {
      expect(() => assertMayListen({}, hostname)).toThrow(/without `auth`/);
      expect(() => assertMayListen({ auth: {} }, hostname)).not.toThrow();
    },
  );

  test.for(['127.0.0.1', 'localhost', '::1', '127.1.2.3'])('may listen on %j', (hostname) => {
    expect(() => assertMayListen({}, hostname)).not.toThrow();
  });
});
