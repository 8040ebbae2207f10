import { connect, createServer, type Server, type Socket } from 'node:net';
import { memoryStore, type PubSub, runtime } from 'adjutant';
import { redis } from 'adjutant/redis';
import { expect, onTestFinished, test } from 'vitest';
import { reasonToSkip, redisUrl } from '../../../../core/test/redis/server.ts';
import { server } from '../../../src/index.ts';

const testRedis = test.skipIf(reasonToSkip !== undefined);

/** Stands between the client and Redis, and can be cut. */
async function cable() {
  const { hostname, port: target } = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let listening: Server;
  let port = 0;
  const mend = async (): Promise<void> => {
    listening = createServer((socket) => {
      const upstream = connect(Number(target || 6379), hostname);
      for (const each of [socket, upstream]) {
        sockets.add(each);
        each.on('error', () => undefined);
        each.on('close', () => sockets.delete(each));
      }
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve));
    port = (listening.address() as { port: number }).port;
  };
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => listening.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await mend();
  onTestFinished(cut);
  return { url: `redis://127.0.0.1:${port}`, cut, mend };
}

/** Returns the readiness of the parts of answers. */
function readiness(pubsub: PubSub): () => Promise<unknown> {
  const app = runtime({ app: 'shop', store: memoryStore(), recover: 'manual', pubsub });
  const api = server(app);
  onTestFinished(async () => {
    await api.close();
    await app.close();
    await pubsub.close();
  });
  return async () =>
    (
      (await (await api.fetch(new Request('http://localhost/v1/ready'))).json()) as {
        deltas: unknown;
      }
    ).deltas;
}

/** Asks again and again; a readiness that stays another one ends the test by its timeout. */
async function becomes(deltas: () => Promise<unknown>, wanted: string): Promise<void> {
  while ((await deltas()) !== wanted) await new Promise((resolve) => setImmediate(resolve));
}

testRedis(
  'A16: readiness says that parts of answers stay in the process while Redis is gone, and ' +
    'that they do not when it is back',
  async () => {
    const line = await cable();
    const pubsub = redis(line.url);
    const deltas = readiness(pubsub);
    await pubsub.subscribe('news', () => undefined);
    expect(await deltas()).toBe('everywhere');
    await line.cut();
    await becomes(deltas, 'process');
    await line.mend();
    await becomes(deltas, 'everywhere');
  },
);

testRedis('A16: readiness says so, too, when Redis was never there', async () => {
  const line = await cable();
  await line.cut();
  const pubsub = redis(line.url);
  const deltas = readiness(pubsub);
  void pubsub.publish('news', 'hello').catch(() => undefined);
  await becomes(deltas, 'process');
  await line.mend();
  await becomes(deltas, 'everywhere');
});
