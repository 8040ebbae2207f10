import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agent, type PubSub, runtime, type StreamEvent } from 'adjutant';
import { redis } from 'adjutant/redis';
import { sqlite } from 'adjutant/sqlite';
import { eventually, scriptedModel } from 'adjutant/testing';
import { createClient } from 'redis';
import { expect, onTestFinished, test } from 'vitest';
import { cable } from './cable.ts';
import { reasonToSkip, redisUrl } from './server.ts';

const url = redisUrl;
const testRedis = test.skipIf(reasonToSkip !== undefined);
let names = 0;
const prefix = (): string => `test-${process.pid}-${++names}:`;

function opened(address: string, options: { readonly prefix: string }): PubSub {
  const pubsub = redis(address, options);
  onTestFinished(() => pubsub.close());
  return pubsub;
}

testRedis('messages reach all who have subscribed, in order, until they end it', async () => {
  const shared = { prefix: prefix() };
  const [one, other] = [opened(url, shared), opened(url, shared)];
  const heard: string[] = [];
  const end = await other.subscribe('news', (message) => heard.push(`first ${message}`));
  await other.subscribe('news', (message) => heard.push(`second ${message}`));
  for (let count = 0; count < 3; count++) await one.publish('news', `${count}`);
  await eventually(() => heard.length === 6);
  expect(heard.filter((text) => text.startsWith('first'))).toEqual([
    'first 0',
    'first 1',
    'first 2',
  ]);
  await end();
  await one.publish('news', '3');
  await eventually(() => heard.length === 7);
  expect(heard.at(-1)).toBe('second 3');
});

testRedis('installations with other prefixes hear nothing', async () => {
  const shared = { prefix: prefix() };
  const heard: string[] = [];
  await opened(url, { prefix: prefix() }).subscribe('news', (message) => heard.push(message));
  await opened(url, shared).subscribe('news', (message) => heard.push(`own ${message}`));
  await opened(url, shared).publish('news', 'hello');
  await eventually(() => heard.length > 0);
  expect(heard).toEqual(['own hello']);
});

testRedis("a client of the caller's is used, and left open", async () => {
  const client = createClient({ url });
  await client.connect();
  const pubsub = redis(client, { prefix: prefix() });
  const heard: string[] = [];
  await pubsub.subscribe('news', (message) => heard.push(message));
  await pubsub.publish('news', 'hello');
  await eventually(() => heard.length === 1);
  await pubsub.close();
  expect(client.isOpen).toBe(true);
  await expect(pubsub.publish('news', 'late')).rejects.toMatchObject({ code: 'pub_sub_closed' });
  client.destroy();
});

test.each([[''], ['localhost:6379'], ['http://localhost'], [7], [{}]])(
  'what is no address is refused: %s',
  (connection) => {
    expect(() => redis(connection as string)).toThrow(
      expect.objectContaining({ code: 'invalid_pub_sub' }),
    );
  },
);

testRedis(
  'while Redis is gone runs and followers go on without it; when it is back, so are the ' +
    'parts of answers',
  async () => {
    const line = await cable();
    onTestFinished(line.cut);
    const path = join(mkdtempSync(join(tmpdir(), 'redis-')), 'app.db');
    const gates: (() => void)[] = [];
    const clock = {
      now: () => 0,
      monotonic: () => 0,
      setTimer: (_: number, task: () => void) => {
        gates.push(task);
        return () => undefined;
      },
    };
    const step = async (): Promise<void> => {
      await eventually(() => gates.length > 0);
      gates.shift()?.();
    };
    const chunks = Array.from({ length: 10 }, (_, index) => `${index}`);
    const writer = agent({
      name: 'writer',
      model: scriptedModel([{ chunks, chunkDelayMs: 1 }], { clock }),
    });
    const shared = { prefix: prefix() };
    const apps = [0, 1].map(() =>
      runtime({
        app: 'a',
        runnables: [writer],
        store: sqlite(path),
        recover: 'manual',
        pubsub: opened(line.url, shared),
      }),
    );
    const [here, there] = apps as [(typeof apps)[number], (typeof apps)[number]];
    await here.sessions.create({ id: 's' });
    const events: StreamEvent[] = [];
    const over = new AbortController();
    const reading = (async () => {
      for await (const event of there.follow('s', { signal: over.signal })) events.push(event);
    })();
    let text = '';
    const live = (): string => {
      text = '';
      for (const event of events) {
        if (event.type === 'stream_reset') text = '';
        if (event.type === 'assistant_delta') text += event.delta;
      }
      return text;
    };
    const run = here.run(writer, { session: 's', input: 'Count' });
    await step();
    await eventually(() => live() === '01');
    await line.cut();
    await step();
    await step();
    await line.mend();
    await step();
    // The follower asks again within ten seconds.
    await eventually(() => live() === '01234', { patienceMs: 100_000 });
    for (let left = 5; left > 0; left--) await step();
    expect(await run).toMatchObject({ output: '0123456789' });
    await eventually(() => events.some(({ type }) => type === 'invocation_end'));
    over.abort();
    await reading;
    await Promise.all(apps.map((app) => app.close()));
  },
  60_000,
);
