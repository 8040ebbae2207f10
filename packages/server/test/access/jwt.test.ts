import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from 'adjutant/ports';
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JwtOptions } from '../../src/index.ts';
import { type Answered, ask, world } from './caller.ts';

const secret = 'a shared secret of 32 bytes or so';
const secretBytes = new TextEncoder().encode(secret);
const issuer = 'https://issuer.example';
const audience = 'adjutant';

/** Claims of an administrator, and how they are to be different. */
function token(claims: JWTPayload = {}): SignJWT {
  return new SignJWT({
    sub: 'ann',
    tenant: 'default',
    roles: ['admin'],
    iss: issuer,
    aud: audience,
    ...claims,
  })
    .setIssuedAt()
    .setExpirationTime('5m');
}

function signed(
  claims: JWTPayload = {},
  alg = 'HS256',
  key: Parameters<SignJWT['sign']>[0] = secretBytes,
): Promise<string> {
  return token(claims).setProtectedHeader({ alg }).sign(key);
}

/** Returns the answer of a server with these options to an administrator with this token. */
async function answerTo(as: string, jwt: Partial<JwtOptions> = {}): Promise<Answered> {
  const { api } = world({ auth: { jwt: { secret, issuer, audience, ...jwt } } });
  return ask(api, 'GET /v1/keys', { as });
}

/** Publishes a set of keys, as issuers do. */
async function keySet(
  keys: () => readonly object[] | undefined,
): Promise<{ readonly url: string; readonly asked: () => number }> {
  let asked = 0;
  const http = createServer((_request, response) => {
    asked += 1;
    const found = keys();
    response
      .writeHead(found === undefined ? 500 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ keys: found }));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/keys`,
    asked: () => asked,
  };
}

const seconds = (from: number): number => Math.floor(systemClock.now() / 1_000) + from;

describe('a token by a shared secret', () => {
  test('lets its bearer in', async () => {
    expect((await answerTo(await signed())).status).toBe(200);
  });

  test.for<[string, () => Promise<string>, Partial<JwtOptions>?]>([
    [
      'expired',
      () =>
        signed({ exp: seconds(-60) }).then(() =>
          token()
            .setExpirationTime(seconds(-60))
            .setProtectedHeader({ alg: 'HS256' })
            .sign(secretBytes),
        ),
    ],
    ['not yet valid', () => signed({ nbf: seconds(60) })],
    [
      'that never expires',
      () =>
        new SignJWT({ sub: 'ann', tenant: 'default', roles: ['admin'], iss: issuer, aud: audience })
          .setProtectedHeader({ alg: 'HS256' })
          .sign(secretBytes),
    ],
    ['of another issuer', () => signed({ iss: 'https://other.example' })],
    ['for another audience', () => signed({ aud: 'billing' })],
    ['for no audience', () => signed({ aud: [] })],
    ['without a subject', () => signed({ sub: undefined } as unknown as JWTPayload)],
    [
      'with another secret',
      () => signed({}, 'HS256', new TextEncoder().encode('another secret of 32 bytes, or so')),
    ],
    [
      'of another algorithm of secrets',
      () => signed({}, 'HS512', new TextEncoder().encode(`${secret}${secret}`)),
      { secret: `${secret}${secret}` },
    ],
    [
      'without a signature',
      async () =>
        new UnsecuredJWT({
          sub: 'ann',
          tenant: 'default',
          roles: ['admin'],
          iss: issuer,
          aud: audience,
        })
          .setExpirationTime('5m')
          .encode(),
    ],
    [
      'whose claims were changed',
      async () =>
        (await signed()).replace(
          /\.([^.]+)\./,
          `.${Buffer.from(JSON.stringify({ sub: 'bob', tenant: 'default', roles: ['admin'], iss: issuer, aud: audience, exp: seconds(60) })).toString('base64url')}.`,
        ),
    ],
    [
      'whose algorithm was changed to none',
      async () =>
        (await signed())
          .replace(/^[^.]+/, Buffer.from('{"alg":"none"}').toString('base64url'))
          .replace(/[^.]+$/, ''),
    ],
    ['of key pairs', async () => signed({}, 'ES256', (await generateKeyPair('ES256')).privateKey)],
    ['without a tenant', () => signed({ tenant: undefined })],
    ['of the tenant of the server', () => signed({ tenant: 'adjutant:system' })],
    ['with a tenant that is no name', () => signed({ tenant: 7 })],
    ['with an empty tenant', () => signed({ tenant: '' })],
    ['with a user that is no name', () => signed({ user: { id: 1 } })],
    [
      'without the user that every token is to have',
      () => signed(),
      { claims: { user: 'person' } },
    ],
    ['with agents that are no names', () => signed({ agents: [1] })],
    [
      'without the agents that every token is to have',
      () => signed(),
      { claims: { agents: 'may_use' } },
    ],
    ['whose subject looks like an API key', () => signed({ sub: 'key:abc' })],
    ['that is none', async () => 'ey.ey.ey'],
  ])('%s lets nobody in', async ([, make, options]) => {
    const { status, body } = await answerTo(await make(), options);
    expect({ status, code: body.code }).toEqual({ status: 401, code: 'unauthenticated' });
  });

  test('with clocks that differ by a few seconds is accepted', async () => {
    expect((await answerTo(await signed({ nbf: seconds(5) }))).status).toBe(200);
  });

  test.for<[JWTPayload, number]>([
    [{ roles: undefined }, 403],
    [{ roles: [] }, 403],
    [{ roles: ['root', 'Admin', 'ADMIN '] }, 403],
    [{ roles: ['viewer'] }, 403],
    [{ roles: 'admin' }, 200],
    [{ roles: ['root', 'admin'] }, 200],
    [{ roles: [1, 'admin'] }, 403],
  ])('with %j is answered with %d by what only administrators may', async ([claims, status]) => {
    expect((await answerTo(await signed(claims))).status).toBe(status);
  });

  test('says in claims of any name who its bearer is', async () => {
    const claims = { tenant: 'org', roles: 'https://example.com/roles', user: 'sub' };
    const as = await signed({
      tenant: undefined,
      org: 'left',
      'https://example.com/roles': ['admin'],
      roles: [],
    });
    const { api, keys } = world({ auth: { jwt: { secret, issuer, audience, claims } } });
    const { key } = await keys.create({
      name: 'x',
      roles: ['viewer'],
      tenant: 'left',
      user: 'ann',
    });
    await keys.create({ name: 'y', roles: ['viewer'], tenant: 'left' });
    await keys.create({ name: 'z', roles: ['viewer'] });
    expect((await ask(api, 'GET /v1/keys', { as })).body.keys).toEqual([key]);
  });

  test('names no tenant where all are of the one of the app', async () => {
    expect(
      (await answerTo(await signed({ tenant: 'left' }), { claims: { tenant: false } })).status,
    ).toBe(200);
  });
});

describe('a token by published keys', () => {
  const jwtOf = (jwks: string): JwtOptions => ({ jwks, issuer, audience });

  test.for(['RS256', 'PS256', 'ES256', 'EdDSA'])(
    'signed with %s lets its bearer in, and the keys are fetched once',
    async (alg) => {
      const { publicKey, privateKey } = await generateKeyPair(alg);
      const published = await exportJWK(publicKey);
      const { url, asked } = await keySet(() => [{ ...published, kid: 'one', alg }]);
      const { api } = world({ auth: { jwt: jwtOf(url) } });
      for (let call = 0; call < 3; call++) {
        expect(
          (
            await ask(api, 'GET /v1/keys', {
              as: await token().setProtectedHeader({ alg, kid: 'one' }).sign(privateKey),
            })
          ).status,
        ).toBe(200);
      }
      expect(asked()).toBe(1);
    },
  );

  test('that uses the public key as a shared secret lets nobody in', async () => {
    const { publicKey } = await generateKeyPair('RS256', { extractable: true });
    const published = await exportJWK(publicKey);
    const { url } = await keySet(() => [{ ...published, kid: 'one' }]);
    const { api } = world({ auth: { jwt: jwtOf(url) } });
    const spki = await exportSPKI(publicKey);
    const tries = [spki, spki.trim(), published.n ?? '', JSON.stringify(published)].map((text) =>
      new TextEncoder().encode(text),
    );
    for (const key of tries) {
      const as = await token().setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(key);
      expect((await ask(api, 'GET /v1/keys', { as })).status).toBe(401);
    }
  });

  test('whose key is not published, or is in the token itself, lets nobody in', async () => {
    const [own, other] = [
      await generateKeyPair('ES256'),
      await generateKeyPair('ES256', { extractable: true }),
    ];
    const published = await exportJWK(own.publicKey);
    const { url } = await keySet(() => [{ ...published, kid: 'one' }]);
    const { api } = world({ auth: { jwt: jwtOf(url) } });
    const header = { alg: 'ES256', kid: 'one' };
    const jwk = await exportJWK(other.publicKey);
    for (const made of [
      header,
      { ...header, kid: 'two' },
      { ...header, jwk },
      { ...header, jku: 'https://evil.example/keys' },
    ]) {
      const as = await token().setProtectedHeader(made).sign(other.privateKey);
      expect((await ask(api, 'GET /v1/keys', { as })).status).toBe(401);
    }
  });

  test('cannot be judged while the keys cannot be fetched, and can be later', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const published = await exportJWK(publicKey);
    let isUp = false;
    const { url } = await keySet(() => (isUp ? [{ ...published, kid: 'one' }] : undefined));
    const errors: unknown[] = [];
    const { api } = world({ auth: { jwt: jwtOf(url) }, onError: (error) => errors.push(error) });
    const as = await token().setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey);
    const answer = await ask(api, 'GET /v1/keys', { as });
    expect(answer).toMatchObject({ status: 503, body: { code: 'key_set_unavailable' } });
    expect(answer.text).not.toContain('127.0.0.1');
    expect(errors).toMatchObject([{ code: 'key_set_unavailable', data: { jwks: url } }]);
    isUp = true;
    expect((await ask(api, 'GET /v1/keys', { as })).status).toBe(200);
  });
});
