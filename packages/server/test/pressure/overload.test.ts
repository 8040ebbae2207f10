import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { agent, memoryStore, runtime, step } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { eventually, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { server } from '../../src/index.ts';
import { callerOf } from '../rest/caller.ts';

const clerk = agent({ name: 'clerk', model: scriptedModel(() => ({ text: 'Done.' })) });
const refusal = { status: 503, body: { code: 'overloaded' } };
const degraded = { status: 200, body: { status: 'degraded', degraded: ['overloaded'] } };

test('more requests than a process may have under way are refused before they do anything', async () => {
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const slow = step({
    name: 'slow',
    execute: async (ctx) => {
      begun.resolve();
      await held.promise;
      return ctx.complete('done');
    },
  });
  const { get, post } = callerOf(
    runtime({ app: 'shop', store: memoryStore(), runnables: [slow], recover: 'manual' }),
    { limits: { requests: 1 } },
  );
  await post('/v1/sessions', { id: 's' });
  await post('/v1/sessions/s/runs', { agent: 'slow', id: 'r' });
  await begun.promise;
  const waiting = get('/v1/sessions/s/runs/r?wait=60000');

  const refused = await post('/v1/sessions', { id: 'other' });
  expect(refused).toMatchObject(refusal);
  expect(refused.headers.get('retry-after')).toBe('2');
  // Those who watch over the process learn of it.
  expect(await get('/v1/health')).toMatchObject(degraded);
  expect(await get('/v1/ready')).toMatchObject(degraded);
  expect((await get('/v1/metrics')).status).toBe(200);

  held.resolve();
  expect((await waiting).body.status).toBe('completed');
  expect((await get('/v1/sessions/other')).status).toBe(404);
  expect((await get('/v1/ready')).body.status).toBe('ready');
});

test('requests are refused before the memory of the process is full', async () => {
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  // This process has more than a thousandth of its memory in use.
  const { get, post } = callerOf(app, { limits: { memory: 0.001 } });
  const refused = await post('/v1/runs', { agent: 'clerk', input: 'Hello' });
  expect(refused).toMatchObject(refusal);
  expect(refused.body.detail).toContain('% of the memory of the process is in use');
  expect(await get('/v1/health')).toMatchObject(degraded);
  expect((await app.sessions.list()).sessions).toEqual([]);
});

test('requests are refused while too many operations wait for the store', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'adjutant-queue-')), 'app.db');
  const { get, post } = callerOf(
    runtime({ app: 'shop', store: sqlite(path), runnables: [clerk], recover: 'manual' }),
    { limits: { storeQueue: 2 } },
  );
  expect((await post('/v1/sessions', { id: 'first' })).status).toBe(201);
  const told = async (status: string): Promise<true> =>
    (await get('/v1/health')).body.status === status || told(status);
  // Another process has the file locked, as a backup may.
  const other = new DatabaseSync(path);
  other.exec('begin immediate');
  const waiting = ['a', 'b', 'c'].map((id) => post('/v1/sessions', { id }));
  await eventually(told('degraded'));
  expect(await post('/v1/sessions', { id: 'refused' })).toMatchObject(refusal);

  other.exec('commit');
  other.close();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toContain(201);
  await eventually(told('ok'));
  expect((await get('/v1/sessions/refused')).status).toBe(404);
});

test('streams are limited for each caller, and for all of them', async () => {
  const app = runtime({ app: 'shop', store: memoryStore(), runnables: [clerk] });
  const { get, api } = callerOf(app, { limits: { streams: 5, streamsInAll: 2 } });
  await app.sessions.create({ id: 's' });
  const open = () => api.fetch(new Request('http://localhost/v1/sessions/s/stream'));
  const [one, two] = [await open(), await open()];
  expect([one.status, two.status]).toEqual([200, 200]);
  const refused = await get('/v1/sessions/s/stream');
  expect(refused).toMatchObject(refusal);
  expect(refused.headers.get('retry-after')).toBe('2');
  await one.body?.cancel();
  const again = await open();
  expect(again.status).toBe(200);
  for (const { body } of [two, again]) await body?.cancel();
});

test.each([
  [{ requests: 0 }, '`limits.requests` must be a whole number from 1'],
  [{ storeQueue: 1.5 }, '`limits.storeQueue` must be a whole number from 1'],
  [{ streamsInAll: -1 }, '`limits.streamsInAll` must be a whole number from 1'],
  [{ memory: 1.1 }, '`limits.memory` must be a number above 0 and up to 1'],
])('limits that do not fit are refused: %j', (limits, message) => {
  expect(() => server(runtime({ app: 'shop', runnables: [clerk] }), { limits })).toThrow(message);
});
