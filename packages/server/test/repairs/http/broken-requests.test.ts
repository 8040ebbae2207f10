import { createHash, createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { memoryStore, runtime } from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { expect, onTestFinished, test } from 'vitest';
import { type ServeOptions, serve, server } from '../../../src/index.ts';

async function serving(options: ServeOptions = {}) {
  const app = runtime({ app: 'shop', store: memoryStore(), recover: 'manual' });
  const listening = await serve(app, { port: 0, ...options });
  onTestFinished(() => listening.close({ closeApp: true }));
  return listening;
}

/** All that a server answers to these bytes until it ends the connection. */
async function answerTo(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write(bytes);
  return text(socket);
}

const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: ' +
  '13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

test.each([
  [
    'a user name in the target',
    'GET http://ann:pw@127.0.0.1/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: ' +
      'close\r\n\r\n',
  ],
  [
    'a target that is no address',
    'GET http://[/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n',
  ],
  ['a host that is none', 'GET /v1/health HTTP/1.1\r\nHost: a b@c\r\nConnection: close\r\n\r\n'],
  ['an empty host', 'GET /v1/health HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n'],
  [
    'a host that becomes another one',
    'GET /v1/health HTTP/1.1\r\nHost: 127.1\r\nConnection: close\r\n\r\n',
  ],
  [
    'an upgrade with a host that is none',
    `GET /v1/sessions/s/socket HTTP/1.1\r\nHost: a/b c\r\n${upgrade}\r\n`,
  ],
  [
    'an upgrade with a user name in the target',
    `GET http://ann:pw@127.0.0.1/v1/sessions/s/socket HTTP/1.1\r\nHost: ` +
      `127.0.0.1\r\n${upgrade}\r\n`,
  ],
])('A16: %s is answered with 400 and a problem that says so', async (_, request) => {
  const { port } = await serving();
  const answer = await answerTo(port, request);
  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  expect(answer).toMatch(/content-type: application\/problem\+json/i);
  expect(answer).toContain('"code":"invalid_request"');
});

test(
  'A16: requests in absolute form and hosts of every right form are let in ' + 'as before',
  async () => {
    const { port } = await serving();
    for (const [target, host] of [
      [`http://127.0.0.1:${port}/v1/health`, `127.0.0.1:${port}`],
      ['/v1/health', 'localhost'],
      ['/v1/health', 'LOCALHOST:80'],
      ['/v1/health?x=\\', '[::1]:1234'],
    ]) {
      expect(
        await answerTo(
          port,
          `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        ),
      ).toMatch(/^HTTP\/1\.1 200 /);
    }
  },
);

test.each([
  ['a head', 'GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
  [
    'a body',
    'POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: ' +
      'application/json\r\nContent-Length: 100\r\n\r\n{"agent":',
  ],
])(
  'A16: %s that does not come to its end within `requestTimeoutMs` is answered with 408, and ' +
    'its connection is cut',
  async (_, bytes) => {
    const { port } = await serving({ requestTimeoutMs: 50 });
    expect(await answerTo(port, bytes)).toMatch(/^HTTP\/1\.1 408 /);
  },
);

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test(
  'A16: a token by a key that is too weak lets nobody in, and is no fault of ' + 'the server',
  async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 });
    const kid = createHash('sha256').update('weak').digest('hex').slice(0, 8);
    const issuer = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }],
        }),
      );
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void issuer.close());
    await once(issuer, 'listening');
    const jwks = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/keys`;
    const errors: unknown[] = [];
    const app = runtime({ app: 'shop', store: memoryStore(), recover: 'manual' });
    const api = server(app, {
      auth: { jwt: { jwks, issuer: 'https://issuer.example', audience: 'adjutant' } },
      onError: (error) => errors.push(error),
    });
    const exp = Math.floor(systemClock.now() / 1_000) + 60;
    const claims = {
      sub: 'ann',
      tenant: 'default',
      roles: ['admin'],
      iss: 'https://issuer.example',
      aud: 'adjutant',
      exp,
    };
    const signed = `${base64({ alg: 'RS256', kid })}.${base64(claims)}`;
    const token = `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
    const answer = await api.fetch(
      new Request('http://localhost/v1/sessions', {
        headers: { authorization: `Bearer ${token}` },
      }),
    );
    expect({ status: answer.status, body: await answer.json(), errors }).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
      errors: [],
    });
    await api.close();
  },
);
