import { memoryStore, runtime } from 'adjutant';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { apiKeys, serve } from '../../../src/index.ts';

test.for<[(bearer: string) => string[], string | undefined]>([
  [(bearer) => [bearer], undefined],
  [(bearer) => ['adjutant.v1', bearer], 'adjutant.v1'],
  [(bearer) => [bearer, 'adjutant.v1'], 'adjutant.v1'],
  [(bearer) => ['graphql-ws', bearer], undefined],
])('A11: a handshake is not answered with the credential (%s)', async ([offered, chosen]) => {
  const app = runtime({ app: 'shop', store: memoryStore(), recover: 'manual' });
  const { url, close } = await serve(app, { auth: {}, port: 0 });
  onTestFinished(async () => {
    await close({ closeApp: true });
  });
  await app.sessions.create({ id: 's' });
  const { credential } = await apiKeys(app).create({ name: 'x', roles: ['viewer'] });
  const protocols = offered(`bearer.${credential}`);
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/sessions/s/socket`, protocols);
  onTestFinished(() => socket.terminate());
  const { status, headers } = await new Promise<{ status: number; headers: object }>((resolve) => {
    socket.on('upgrade', ({ statusCode = 0, headers: given }) =>
      resolve({ status: statusCode, headers: given }),
    );
    socket.on('unexpected-response', (_request, { statusCode = 0, headers: given }) =>
      resolve({ status: statusCode, headers: given }),
    );
    // Clients take it for a fault when none of what they offered is chosen: they are to offer both.
    socket.on('error', () => undefined);
  });
  expect(status).toBe(101);
  expect((headers as Record<string, string>)['sec-websocket-protocol']).toBe(chosen);
  expect(JSON.stringify(headers)).not.toContain('adj_');
});
