import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type BusEvent, redisBus } from 'adjutant/bus';
import { busContract, eventually } from 'adjutant/testing';
import { createClient } from 'redis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cable } from '../redis/cable.ts';
import { reasonToSkip, redisUrl } from '../redis/server.ts';

let names = 0;
const newPrefix = (): string => `test-bus-${process.pid}-${++names}:`;
const quiet = { onError: () => undefined };

if (reasonToSkip === undefined) {
  await busContract('Redis', async () => {
    const prefix = newPrefix();
    const line = await cable();
    const bus = redisBus(line.url, { prefix, ...quiet });
    const other = redisBus(line.url, { prefix, ...quiet });
    return {
      ...{ bus, other },
      interrupt: async (meanwhile) => {
        await line.cut();
        await meanwhile();
        await line.mend();
      },
      cleanup: async () => {
        await Promise.all([bus.close(), other.close()]);
        await line.cut();
        await withClient((client) => client.del(`${prefix}adjutant:events`));
      },
    };
  });
} else {
  describe.skip(`bus contract: Redis (${reasonToSkip})`, () => test('is skipped', () => undefined));
}

const testRedis = test.skipIf(reasonToSkip !== undefined);

async function withClient<Value>(
  work: (client: ReturnType<typeof createClient>) => Promise<Value>,
): Promise<Value> {
  const client = createClient({ url: redisUrl });
  await client.connect();
  try {
    return await work(client as ReturnType<typeof createClient>);
  } finally {
    client.destroy();
  }
}

const event = (data: number): BusEvent => ({
  ...{ id: `e${data}`, source: 'test', type: 'news', data, at: data },
});

function opened(url: string, prefix: string, maxEvents?: number) {
  const bus = redisBus(url, { prefix, ...(maxEvents === undefined ? {} : { maxEvents }) });
  onTestFinished(() => bus.close());
  return bus;
}

testRedis('a subscriber that was cut off reads on, and has missed nothing', async () => {
  const prefix = newPrefix();
  const line = await cable();
  onTestFinished(line.cut);
  const [here, there] = [opened(redisUrl, prefix), opened(line.url, prefix)];
  const heard: unknown[] = [];
  let missed = 0;
  await there.subscribe('news', ({ data }) => heard.push(data), { onMissed: () => missed++ });
  await here.publish(event(0));
  await eventually(() => heard.length === 1);
  await line.cut();
  for (let count = 1; count <= 1_200; count++) await here.publish(event(count));
  await line.mend();
  await eventually(() => heard.length === 1_201, { patienceMs: 30_000 });
  expect(heard).toEqual(Array.from({ length: 1_201 }, (_, count) => count));
  expect(missed).toBe(0);
});

testRedis('a subscriber whose place has left the stream is told so', async () => {
  const prefix = newPrefix();
  const line = await cable();
  onTestFinished(line.cut);
  const [here, there] = [opened(redisUrl, prefix), opened(line.url, prefix)];
  const heard: unknown[] = [];
  let missed = 0;
  await there.subscribe('news', ({ data }) => heard.push(data), { onMissed: () => missed++ });
  await here.publish(event(0));
  await eventually(() => heard.length === 1);
  await line.cut();
  await here.publish(event(1));
  await withClient((client) => client.del(`${prefix}adjutant:events`));
  await here.publish(event(2));
  await line.mend();
  await eventually(() => heard.includes(2), { patienceMs: 30_000 });
  expect(heard).toEqual([0, 2]);
  expect(missed).toBe(1);
});

testRedis('the stream keeps about as many events as it should', async () => {
  const prefix = newPrefix();
  const bus = opened(redisUrl, prefix, 10);
  for (let count = 0; count < 1_000; count++) await bus.publish(event(count));
  const length = await withClient((client) => client.xLen(`${prefix}adjutant:events`));
  expect(length).toBeLessThan(300);
});

testRedis("a client of the caller's is used, and left open", async () => {
  await withClient(async (client) => {
    const bus = redisBus(client, { prefix: newPrefix() });
    const heard: unknown[] = [];
    await bus.subscribe('news', ({ data }) => heard.push(data));
    await bus.publish(event(1));
    await eventually(() => heard.length === 1);
    await bus.close();
    expect(client.isOpen).toBe(true);
  });
});

testRedis('what others write to the stream is left out', async () => {
  const prefix = newPrefix();
  const bus = opened(redisUrl, prefix);
  const heard: unknown[] = [];
  await bus.subscribe('**', ({ data }) => heard.push(data));
  await withClient(async (client) => {
    const texts = ['', 'null', '{', '[[[[', JSON.stringify({ ...event(1), type: '*' })];
    for (const text of texts) await client.xAdd(`${prefix}adjutant:events`, '*', { event: text });
    await client.xAdd(`${prefix}adjutant:events`, '*', { other: 'field' });
  });
  await bus.publish(event(2));
  await eventually(() => heard.length > 0);
  expect(heard).toEqual([2]);
});

const hasServer = spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;

test.skipIf(!hasServer)('a Redis that is killed and started empty is used again', async () => {
  const port = await freePort();
  let server = await startRedis(port);
  onTestFinished(() => void server.kill('SIGKILL'));
  const [here, there] = [1, 2].map(() => opened(`redis://127.0.0.1:${port}`, 'restart:')) as [
    ReturnType<typeof opened>,
    ReturnType<typeof opened>,
  ];
  const heard: unknown[] = [];
  let missed = 0;
  await there.subscribe('news', ({ data }) => heard.push(data), { onMissed: () => missed++ });
  await here.publish(event(1));
  await eventually(() => heard.length === 1);
  const exited = once(server, 'exit');
  server.kill('SIGKILL');
  await exited;
  await expect(here.publish(event(2))).rejects.toMatchObject({ code: 'bus_unavailable' });
  server = await startRedis(port);
  let isTrying = false;
  let isPublished = false;
  const publish = async (): Promise<void> => {
    isTrying = true;
    try {
      await here.publish(event(3));
      isPublished = true;
    } catch {
      isTrying = false;
    }
  };
  await eventually(() => {
    if (!isTrying) void publish();
    return isPublished;
  });
  await eventually(() => heard.length === 2 && missed === 1, { patienceMs: 30_000 });
  expect(heard).toEqual([1, 3]);
});

test.skipIf(!hasServer)('a Redis that is not there yet is told, and used when it is', async () => {
  const port = await freePort();
  const bus = opened(`redis://127.0.0.1:${port}`, 'late:');
  const code = { code: 'bus_unavailable' };
  await expect(bus.publish(event(1))).rejects.toMatchObject(code);
  await expect(bus.subscribe('news', () => undefined)).rejects.toMatchObject(code);
  const server = await startRedis(port);
  onTestFinished(() => void server.kill('SIGKILL'));
  const heard: unknown[] = [];
  await bus.subscribe('news', ({ data }) => heard.push(data));
  await bus.publish(event(2));
  await eventually(() => heard.length > 0);
  expect(heard).toEqual([2]);
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function startRedis(port: number): Promise<ChildProcess> {
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const text of server.stdout) if (`${text}`.includes('Ready to accept')) break;
  return server;
}

test.each([[''], ['localhost:6379'], [7], [{}]])('the connection %s is refused', (connection) => {
  expect(() => redisBus(connection as string)).toThrow(
    expect.objectContaining({ code: 'invalid_option' }),
  );
});

test('options that do not fit are refused', () => {
  expect(() => redisBus('redis://localhost', { maxEvents: 0 })).toThrow(/`maxEvents` must be/);
  expect(() => redisBus('redis://localhost', { maxLen: 1 } as object)).toThrow(
    /no option `maxLen`/,
  );
});
