import { SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { ask, fromAddress, world } from './caller.ts';

describe('callers', () => {
  test('may make so many requests in a minute, each for itself', async () => {
    const { api, key } = world({ limits: { requestsPerMinute: 3 } });
    const [one, two] = [await key(), await key()];
    const left: (string | null)[] = [];
    for (let call = 0; call < 3; call++)
      left.push((await ask(api, 'GET /v1/keys', { as: one })).headers.get('ratelimit'));
    expect(left).toEqual(
      [2, 1, 0].map((rest) =>
        expect.stringMatching(new RegExp(`^"caller";r=${rest};t=(?:60|59)$`)),
      ),
    );
    const refused = await ask(api, 'GET /v1/keys', { as: one });
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', data: { perMinute: 3 } },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
    expect(refused.headers.get('ratelimit-policy')).toBe('"caller";q=3;w=60');
    expect((await ask(api, 'GET /v1/keys', { as: two })).status).toBe(200);
  });

  test('of one name in two tenants are two', async () => {
    const secret = 'a shared secret of 32 bytes or so';
    const { api } = world({ auth: { jwt: { secret } }, limits: { requestsPerMinute: 1 } });
    for (const tenant of ['left', 'right']) {
      const claims = { sub: 'ann', tenant, roles: ['admin'] };
      const as = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime('5m')
        .sign(new TextEncoder().encode(secret));
      const statuses = [
        await ask(api, 'GET /v1/keys', { as }),
        await ask(api, 'GET /v1/keys', { as }),
      ].map(({ status }) => status);
      expect(statuses).toEqual([200, 429]);
    }
  });

  test(
    'without a valid credential are told so only so often, and keep ' + 'nobody else out',
    async () => {
      const { api, key } = world({ limits: { failuresPerMinute: 2 } });
      const env = fromAddress('192.0.2.1');
      const statuses: number[] = [];
      for (let call = 0; call < 4; call++)
        statuses.push((await ask(api, 'GET /v1/keys', { as: 'wrong', env })).status);
      expect(statuses).toEqual([401, 401, 429, 429]);
      expect((await ask(api, 'GET /v1/keys', { as: await key(), env })).status).toBe(200);
      expect(
        (await ask(api, 'GET /v1/keys', { as: 'wrong', env: fromAddress('192.0.2.2') })).status,
      ).toBe(401);
    },
  );

  test('of one network of IPv6 are one, however many addresses they have', async () => {
    const { api } = world({ limits: { failuresPerMinute: 1 } });
    const statusFrom = async (address: string): Promise<number> =>
      (await ask(api, 'GET /v1/keys', { env: fromAddress(address) })).status;
    expect(await statusFrom('2001:db8:1:2::1')).toBe(401);
    expect(await statusFrom('2001:db8:1:2:aaaa:bbbb:cccc:dddd')).toBe(429);
    expect(await statusFrom('2001:db8:1:3::1')).toBe(401);
    expect(await statusFrom('2001:db8::1')).toBe(401);
    expect(await statusFrom('2001:db8:0:0:1::1')).toBe(429);
  });

  test(
    'behind a proxy of ones own are told apart by what it saw, and by nothing that they ' +
      'wrote themselves',
    async () => {
      const statusOf = async (
        trustProxy: number,
        headers: readonly string[],
      ): Promise<number[]> => {
        const { api } = world({ trustProxy, limits: { failuresPerMinute: 1 } });
        const statuses: number[] = [];
        for (const forwarded of headers) {
          statuses.push(
            (
              await ask(api, 'GET /v1/keys', {
                env: fromAddress('10.0.0.1'),
                headers: { 'x-forwarded-for': forwarded },
              })
            ).status,
          );
        }
        return statuses;
      };
      expect(await statusOf(0, ['192.0.2.1', '192.0.2.2'])).toEqual([401, 429]);
      expect(await statusOf(1, ['192.0.2.1', '192.0.2.2'])).toEqual([401, 401]);
      expect(await statusOf(1, ['192.0.2.8, 192.0.2.1', '192.0.2.9, 192.0.2.1'])).toEqual([
        401, 429,
      ]);
      expect(await statusOf(2, ['192.0.2.1, 10.0.0.2', '192.0.2.2, 10.0.0.2'])).toEqual([401, 401]);
      expect(await statusOf(1, ['not an address', 'neither'])).toEqual([401, 429]);
    },
  );

  test('that watch over the server are never refused', async () => {
    const { api } = world({ limits: { requestsPerMinute: 1 } });
    for (let call = 0; call < 3; call++)
      expect((await ask(api, 'GET /v1/health')).status).toBe(200);
  });
});

describe('bodies', () => {
  const key = { name: 'x', roles: ['viewer'] };

  test('that are too long are refused, whether they say so or not', async () => {
    const { api, key: credential } = world({ limits: { bodyBytes: 100 } });
    const as = await credential();
    const long = { ...key, name: 'x'.repeat(100) };
    expect(await ask(api, 'POST /v1/keys', { as, body: long })).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    expect(
      (await ask(api, 'POST /v1/keys', { as, body: long, headers: { 'content-length': '120' } }))
        .status,
    ).toBe(413);
    expect(
      (
        await ask(api, 'POST /v1/keys', {
          as,
          body: long,
          headers: { 'transfer-encoding': 'chunked', 'content-length': '3' },
        })
      ).status,
    ).toBe(413);
    expect((await ask(api, 'POST /v1/keys', { as, body: key })).status).toBe(201);
  });

  test('are not even read of whoever may not call', async () => {
    const { api, key: credential } = world({ limits: { bodyBytes: 10 } });
    const body = { name: 'x'.repeat(100) };
    expect((await ask(api, 'POST /v1/keys', { body })).status).toBe(401);
    expect(
      (
        await ask(api, 'POST /v1/keys', {
          as: await credential({ roles: ['viewer'] }),
          body: 'no json',
        })
      ).status,
    ).toBe(403);
  });
});

describe('answers', () => {
  test('carry headers that keep browsers from doing harm with them', async () => {
    const { api } = world();
    for (const what of [
      'GET /v1/keys',
      'GET /v1/openapi.json',
      'GET /nothing',
      'DELETE /v1/keys',
    ]) {
      const { headers } = await ask(api, what);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(headers.has('strict-transport-security')).toBe(false);
      expect(headers.has('access-control-allow-origin')).toBe(false);
      expect(headers.has('x-powered-by')).toBe(false);
    }
  });

  test('ask for encryption where they were asked for with it', async () => {
    const { api } = world();
    const secure = await api.fetch(new Request('https://agents.example/v1/openapi.json'));
    expect(secure.headers.get('strict-transport-security')).toMatch(/^max-age=\d+/);
    const proxied = { headers: { 'x-forwarded-proto': 'https' } };
    expect(
      (await ask(api, 'GET /v1/openapi.json', proxied)).headers.has('strict-transport-security'),
    ).toBe(false);
    const { api: behind } = world({ trustProxy: 1 });
    expect(
      (await ask(behind, 'GET /v1/openapi.json', proxied)).headers.has('strict-transport-security'),
    ).toBe(true);
  });
});

describe('pages of other sites', () => {
  const origin = 'https://app.example';
  const preflight = {
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  };

  test('cannot call unless they are named', async () => {
    const { api } = world({ cors: { origins: ['https://other.example'] } });
    expect(
      (await ask(api, 'OPTIONS /v1/keys', preflight)).headers.has('access-control-allow-origin'),
    ).toBe(false);
    const { api: closed } = world();
    expect(
      (await ask(closed, 'OPTIONS /v1/keys', preflight)).headers.has('access-control-allow-origin'),
    ).toBe(false);
  });

  test('that are named can, also to be told what went wrong', async () => {
    const { api, key } = world({ cors: { origins: [origin] } });
    const asked = await ask(api, 'OPTIONS /v1/keys', preflight);
    expect(asked.status).toBe(204);
    expect(Object.fromEntries(asked.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-headers': expect.stringContaining('authorization'),
      'access-control-allow-methods': 'GET,POST,PATCH,DELETE',
    });
    expect(asked.headers.has('access-control-allow-credentials')).toBe(false);
    for (const as of [await key(), 'wrong']) {
      const { headers } = await ask(api, 'GET /v1/keys', { as, headers: { origin } });
      expect(headers.get('access-control-allow-origin')).toBe(origin);
      expect(headers.get('access-control-expose-headers')).toContain('x-request-id');
    }
  });
});
