import { memoryStore } from 'adjutant';
import { expect, test } from 'vitest';
import { server } from '../../../src/index.ts';
import { profileNames } from '../../../src/stream/profile-names.ts';
import { changedStore } from '../../changed-store.ts';
import {
  append,
  appWith,
  countedReads,
  get,
  lastOf,
  manyRuns,
  open,
  readTo,
  runEvents,
  session,
  stream,
} from './long-session.ts';

test.each(['native', 'steps', 'messages'])(
  'A3: %s: another request is answered while a long session is told',
  async (profile) => {
    const app = await appWith(memoryStore(), manyRuns(900));
    const made = server(app);
    const order: string[] = [];
    // As other requests come: in a turn of their own.
    const other = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => get(made, '/v1/health'))
      .then(() => order.push('health'));
    const readers = [1, 2, 3].map(async () => {
      await readTo(made, `${stream}?profile=${profile}`, await lastOf(app));
      order.push('replay');
    });
    await Promise.all([other, ...readers]);
    expect(order).toEqual(['health', 'replay', 'replay', 'replay']);
    await app.close();
  },
);

test.each([
  ['events', `/v1/sessions/${session}/events?limit=1000`],
  ['state', `/v1/sessions/${session}/state`],
  ['transcript', `/v1/sessions/${session}/transcript`],
  ['usage', `/v1/usage?session=${session}`],
  ['runs', `/v1/sessions/${session}/runs`],
  ['a run', `/v1/sessions/${session}/runs/run-900`],
  ['the stream of a run', `/v1/sessions/${session}/runs/run-900/stream`],
  ['steps at the end', `${stream}?profile=steps&after=9000`],
])('A3: another request is answered before that for %s of a long session', async (_, path) => {
  const app = await appWith(memoryStore(), manyRuns(900));
  const made = server(app);
  const order: string[] = [];
  const long = get(made, path).then(({ status }) => order.push(`long ${status}`));
  const other = new Promise<void>((resolve) => setImmediate(resolve))
    .then(() => get(made, '/v1/health'))
    .then(() => order.push('health'));
  await Promise.all([long, other]);
  expect(order).toEqual(['health', 'long 200']);
  await app.close();
});

test.each(profileNames)('A3: %s: what many readers are told is read once', async (profile) => {
  const { store, reads } = countedReads();
  const app = await appWith(store, manyRuns(60));
  const made = server(app);
  const last = await lastOf(app);
  reads.events = 0;
  const frames = await Promise.all(
    Array.from({ length: 20 }, () => readTo(made, `${stream}?profile=${profile}`, last)),
  );
  for (const each of frames) expect(each).toEqual(frames[0]);
  // The ledger once, and for each reader and each piece one event that says which ledger it is.
  expect(reads.events).toBeLessThan(Number(last) + 100);
  await app.close();
});

test.each([
  ['steps', `${stream}?profile=steps&after=600`],
  ['messages', `${stream}?profile=messages&after=600`],
  ['a run', `/v1/sessions/${session}/runs/open/stream?after=600`],
  ['the end of a run', `/v1/sessions/${session}/runs/run-60/stream?after=590`],
])('A3: %s: a reader that comes back costs what has happened since', async (_, path) => {
  const { store, reads } = countedReads();
  const app = await appWith(store, [...manyRuns(60), ...runEvents('open', true)]);
  const made = server(app);
  const first = await open(made, path);
  const frame = await first.next();
  expect(frame).toBeDefined();
  await first.close();
  reads.events = 0;
  for (let times = 0; times < 10; times++) {
    const again = await open(made, path);
    expect(await again.next()).toEqual(frame);
    await again.close();
  }
  expect(reads.events).toBeLessThan(10 * 30);
  await app.close();
});

test(
  'A3: who is at the end is told what happens while others of the same caller wait for the ' +
    'past',
  async () => {
    const app = await appWith(memoryStore(), manyRuns(100));
    const made = server(app, { limits: { replays: 1 } });
    const live = await open(made, `${stream}?after=1000`);
    // Nobody takes what these are told: they wait at the first piece.
    const slow = await Promise.all(Array.from({ length: 10 }, () => open(made, stream)));
    await Promise.all(slow.map((reader) => reader.next()));
    const told = live.next();
    await append(app, runEvents('later'));
    expect(await told).toMatchObject({ id: '1001', event: 'invocation_start' });
    const late = await open(made, stream);
    expect((await late.until(({ id }) => id === '1010')).length).toBe(1_010);
    for (const reader of [live, late, ...slow]) await reader.close();
    await app.close();
  },
);

test(
  'A3: of each caller as many pieces are made at a time as the limit says, and who has left ' +
    'waits no more',
  async () => {
    let reading = 0;
    let most = 0;
    const inner = memoryStore();
    const gates: (() => void)[] = [];
    const store = changedStore(inner, (ledgers) => ({
      async *readStored(...args) {
        most = Math.max(most, ++reading);
        await new Promise<void>((resolve) => gates.push(resolve));
        try {
          yield* ledgers.readStored(...args);
        } finally {
          reading--;
        }
      },
    }));
    const app = await appWith(store, manyRuns(30));
    const made = server(app, { limits: { replays: 2 } });
    // Different places, so that nobody is told the same.
    const readers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => open(made, `${stream}?after=${i * 10 + 1}`)),
    );
    const told = readers.map((reader) => reader.next());
    await new Promise((resolve) => setImmediate(resolve));
    expect(most).toBe(2);
    await readers[5]?.close();
    let isDone = false;
    const all = Promise.all(told).then(() => {
      isDone = true;
    });
    while (!isDone) {
      for (const pass of gates.splice(0)) pass();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await all;
    expect(most).toBe(2);
    for (const [i, frame] of (await Promise.all(told)).entries())
      expect(frame?.id).toBe(i === 5 ? undefined : String(i * 10 + 2));
    for (const reader of readers) await reader.close();
    await app.close();
  },
);

test('A3: a server that closes ends streams that wait for the past', async () => {
  const app = await appWith(memoryStore(), manyRuns(100));
  const made = server(app, { limits: { replays: 1 } });
  const readers = await Promise.all(Array.from({ length: 20 }, () => open(made, stream)));
  const rests = readers.map((reader) => reader.rest());
  await made.close();
  await Promise.all(rests);
  for (const reader of readers)
    expect([reader.isEnded, reader.comments.includes('the server closes')]).toEqual([true, true]);
  await app.close();
});

test('A3: the limit of replays must be a number of them', async () => {
  const app = await appWith(memoryStore(), []);
  expect(() => server(app, { limits: { replays: 0 } })).toThrow(
    /`limits.replays` must be a whole number from 1/,
  );
  await app.close();
});
