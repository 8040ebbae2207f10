import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, runtime, type Store, step } from 'adjutant';
import type { Clock } from 'adjutant/ports';
import { sqlite } from 'adjutant/sqlite';
import { eventually, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callerOf } from './caller.ts';

const dayMs = 86_400_000;

const publish = step({
  name: 'publish',
  execute: async (ctx) => {
    const { approved } = await ctx.ask('release', { message: 'Publish it?', approval: true });
    if (!approved) return ctx.fail('Not published.');
    const schema = z.object({ title: z.string().min(3) });
    const { title } = await ctx.ask('texts', { message: 'Which title?', schema });
    return ctx.complete(title);
  },
});

const remind = step({
  name: 'remind',
  execute: async (ctx) => {
    await ctx.sleep('a day', dayMs);
    return ctx.complete('reminded');
  },
});

/** The stores that these are tested on; a sleep ends by the clock of its store. */
const stores: readonly (readonly [string, (clock: Clock) => Store])[] = [
  ['memory', (clock) => memoryStore({ clock })],
  ['SQLite', (clock) => sqlite(join(mkdtempSync(join(tmpdir(), 'steps-')), 'app.db'), { clock })],
];

function steps(makeStore: (clock: Clock) => Store) {
  const clock = testClock();
  const store = makeStore(clock);
  const app = runtime({ app: 'news', store, ports: { clock }, runnables: [publish, remind] });
  return { app, clock, ...callerOf(app) };
}

describe.each(stores)('steps that wait, on %s', (_name, makeStore) => {
  test('ask over HTTP, and take only answers that fit', async () => {
    const { get, post } = steps(makeStore);
    const { links } = (await post('/v1/runs', { agent: 'publish' })).body;
    const run = `${links['run']}?wait=20000`;
    const first = await get(run);
    expect(first.body).toMatchObject({
      status: 'waiting',
      waitsFor: 'tool_input',
      requests: [{ kind: 'approval', name: 'release', summary: 'Publish it?', status: 'pending' }],
    });
    const approval = `/v1/approvals/${first.body.requests[0]?.requestId}`;
    expect(await post(approval, { decision: 'edit', input: {} })).toMatchObject({
      status: 400,
      body: { code: 'decision_not_offered' },
    });
    await post(approval, { decision: 'approve' });
    const second = await get(run);
    expect(second.body).toMatchObject({
      status: 'waiting',
      requests: [{ kind: 'input', name: 'texts', summary: 'Which title?' }],
    });
    const question = `/v1/approvals/${second.body.requests[0]?.requestId}`;
    expect(await post(question, { decision: 'answer', input: { title: 'x' } })).toMatchObject({
      status: 400,
      body: { code: 'input_mismatch' },
    });
    await post(question, { decision: 'answer', input: { title: 'Our year' } });
    expect((await get(run)).body).toMatchObject({ status: 'completed', output: 'Our year' });
    expect(await post(question, { decision: 'answer', input: { title: 'Late' } })).toMatchObject({
      status: 409,
      body: { code: 'request_settled' },
    });
  });

  test('sleep, tell so, and go on by themselves when the time has come', async () => {
    const { app, get, post, clock } = steps(makeStore);
    const { links, session: id } = (await post('/v1/runs', { agent: 'remind' })).body;
    const run = `${links['run']}?wait=20000`;
    const asleep = await get(run);
    const sleepsUntil = expect.closeTo(clock.now() + dayMs, -4);
    const waits = { status: 'waiting', waitsFor: 'sleep', sleepsUntil };
    expect(asleep.body).toMatchObject({ ...waits, requests: [] });
    expect((await get(`/v1/sessions/${id}/runs`)).body).toMatchObject({ runs: [waits] });
    // Nobody's input is awaited: every door says the same word.
    expect((await get(`/v1/sessions/${id}`)).body).toMatchObject({
      status: 'sleeping',
      waiting: 0,
    });
    for (const [status, count] of [
      ['sleeping', 1],
      ['awaiting_input', 0],
    ] as const) {
      const { body } = await get(`/v1/sessions?status=${status}`);
      expect(body).toMatchObject({ sessions: { length: count } });
      expect((await app.sessions.list({ status })).sessions).toHaveLength(count);
    }
    expect((await app.sessions.get(id)).status).toBe('sleeping');
    expect((await app.sessions.stateAt(id)).status).toBe('sleeping');
    clock.advance(dayMs);
    const session = await app.sessions.open({ id });
    const isOver = (): boolean => session.events.at(-1)?.type === 'invocation_end';
    await eventually(isOver, { what: 'the end', clock, stepMs: 100 });
    const { body } = await get(run);
    expect(body).toMatchObject({ status: 'completed', output: 'reminded' });
    expect(body).not.toHaveProperty('sleepsUntil');
    expect(session.status).toBe('completed');
  });
});
