import { agent, runtime } from 'adjutant';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { server } from '../../src/index.ts';
import { clockAgent, codeOf, get, ledgerOf, open } from './clock-stream.ts';
import { countedStore } from './counted-store.ts';

test('a comment is sent when nothing else is for long, to who waits for something', async () => {
  const clock = testClock();
  const app = runtime({ app: 'test', recover: 'manual' });
  await app.run(clockAgent(), { session: 's', input: 'When?' });
  const made = server(app, { ports: { clock }, stream: { heartbeatMs: 10_000 } });
  const stream = await open(made, '/v1/sessions/s/stream');
  const { length } = await ledgerOf(app, 's');
  await stream.until(({ id }) => id === String(length));
  for (let beats = 1; beats <= 3; beats++) {
    const chunk = stream.readChunk();
    await eventually(chunk, { clock, stepMs: 1_000 });
    expect(stream.comments.length).toBe(beats);
  }
  await stream.close();
});

test(
  'a reader that does not read costs nothing: parts are joined, and the run ' + 'does not wait',
  async () => {
    const words = Array.from({ length: 500 }, (_, i) => `word${i} `);
    const app = runtime({ app: 'test', recover: 'manual' });
    const made = server(app);
    await app.sessions.open({ id: 's' }).then((session) => session.flush());
    await app.sessions.create({ id: 't' });
    const stream = await open(made, '/v1/sessions/t/stream');
    await stream.next();
    const { output } = await app.run(
      agent({ name: 'teller', model: scriptedModel([{ chunks: words }]) }),
      { session: 't', input: 'Go', runId: 'r' },
    );
    expect(output).toBe(words.join(''));
    const frames = await stream.until(({ event }) => event === 'invocation_end');
    expect(frames.filter(({ event }) => event === 'assistant_delta').length).toBeLessThan(20);
    await stream.close();
  },
);

test('whoever leaves is followed no longer, and is counted no longer', async () => {
  const store = countedStore();
  const app = runtime({ app: 'test', store, recover: 'manual' });
  await app.run(clockAgent(), { session: 's', input: 'When?' });
  const made = server(app, { limits: { streams: 3 } });
  const streams = await Promise.all([1, 2, 3].map(() => open(made, '/v1/sessions/s/stream')));
  const rests = streams.map((stream) => stream.rest());
  await eventually(() => store.followers === 1);
  const refused = await get(made, '/v1/sessions/s/stream');
  expect([refused.status, await codeOf(refused), refused.headers.get('retry-after')]).toEqual([
    429,
    'too_many_streams',
    '5',
  ]);
  await Promise.all(streams.map((stream) => stream.close()));
  await Promise.all(rests);
  await eventually(() => store.followers === 0);
  const again = await open(made, '/v1/sessions/s/stream');
  await again.close();
  expect(store.followers).toBe(0);
});

test('a server that closes ends its streams, so that clients come back', async () => {
  const store = countedStore();
  const app = runtime({ app: 'test', store, recover: 'manual' });
  await app.run(clockAgent(), { session: 's', input: 'When?' });
  const made = server(app);
  const stream = await open(made, '/v1/sessions/s/stream');
  const { length } = await ledgerOf(app, 's');
  await stream.until(({ id }) => id === String(length));
  const rest = stream.rest();
  await made.close();
  expect(await rest).toEqual([]);
  expect(stream.isEnded).toBe(true);
  expect(stream.comments).toContain('the server closes');
  await eventually(() => store.followers === 0);
});
