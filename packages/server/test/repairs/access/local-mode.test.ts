import { memoryStore, runtime } from 'adjutant';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { serve } from '../../../src/index.ts';
import { ask, fromAddress, world } from '../../access/caller.ts';

const env = fromAddress('127.0.0.1');

describe('A15: a server without credentials lets in nobody', () => {
  test.for([
    ...[
      'Forwarded',
      'Via',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'X-Forwarded-Proto',
      'X-Forwarded-Port',
      'X-Forwarded-Server',
      'X-Forwarded-Prefix',
    ],
    ...[
      'X-Forwarded',
      'X-Real-IP',
      'X-Client-IP',
      'CF-Connecting-IP',
      'CF-Ray',
      'CF-Visitor',
      'True-Client-IP',
      'X-Cluster-Client-IP',
      'Client-IP',
    ],
    ...[
      'Fastly-Client-IP',
      'Fly-Client-IP',
      'DO-Connecting-IP',
      'X-Envoy-External-Address',
      'X-Original-Host',
      'X-Original-URL',
      'X-AppEngine-User-IP',
    ],
    ...['X-Azure-ClientIP', 'X-Remote-IP', 'X-Remote-Addr', 'CDN-Loop', 'Forwarded-For'],
  ])('with the header %s', async (name) => {
    const { api } = world({ isOpen: true });
    const answer = await ask(api, 'GET /v1/keys', { env, headers: { [name]: '127.0.0.1' } });
    expect(answer).toMatchObject({ status: 403, body: { code: 'only_local' } });
    expect(answer.body.detail).toContain(name.toLowerCase());
  });

  test.for([
    'app://localhost',
    'chrome-extension://localhost',
    'file://localhost',
    'capacitor://localhost',
    'ws://localhost',
    'ionic://127.0.0.1',
  ])('from the origin %s', async (origin) => {
    const { api } = world({ isOpen: true });
    expect(await ask(api, 'GET /v1/keys', { env, headers: { origin } })).toMatchObject({
      status: 403,
      body: { code: 'only_local' },
    });
    const named = world({ isOpen: true, cors: { origins: ['http://localhost:5173'] } });
    expect((await ask(named.api, 'GET /v1/keys', { env, headers: { origin } })).status).toBe(403);
  });
});

test('A15: headers of programs and browsers of this machine are none of proxies', async () => {
  const { api } = world({ isOpen: true });
  const headers = {
    ...{
      'user-agent': 'curl/8',
      accept: '*/*',
      host: 'localhost',
      origin: 'http://localhost:5173',
      referer: 'http://localhost:5173/',
    },
    ...{
      'sec-fetch-site': 'same-site',
      'x-requested-with': 'x',
      traceparent: '00-0-0-00',
      'x-request-id': '1',
      dnt: '1',
      'idempotency-key': 'a',
    },
  };
  expect((await ask(api, 'GET /v1/keys', { env, headers })).status).toBe(200);
});

test.for<[string, number]>([
  ['http:', 101],
  ['https:', 101],
  ['app:', 403],
  ['chrome-extension:', 403],
])('A15: a page of %s opens a socket: %i', async ([protocol, wanted]) => {
  const app = runtime({ app: 'shop', store: memoryStore(), recover: 'manual' });
  const { url, port, close } = await serve(app, { port: 0 });
  onTestFinished(() => close({ closeApp: true }));
  await app.sessions.create({ id: 's' });
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/sessions/s/socket`, {
    origin: `${protocol}//127.0.0.1:${port}`,
  });
  onTestFinished(() => socket.terminate());
  const status = await new Promise<number | undefined>((resolve) => {
    socket.on('open', () => resolve(101));
    socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
    socket.on('error', () => undefined);
  });
  expect(status).toBe(wanted);
});
