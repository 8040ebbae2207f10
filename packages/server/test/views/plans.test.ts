import { client } from '@adjutant/server/client';
import { memoryStore, runtime, type Store, step, tool } from 'adjutant';
import { plan, planViews } from 'adjutant/plan';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callerOf } from '../rest/caller.ts';
import { stores } from '../rest/stores.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** An app whose plan has a subtask that breaks, one that is planned instead, and an approval. */
function office(store: Store = memoryStore()) {
  const work = step({
    name: 'work',
    execute: (ctx) =>
      ctx.message?.startsWith('Break') ? ctx.fail('It broke.') : ctx.complete('done'),
  });
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({ cents: z.number() }),
    approval: true,
    execute: () => 'paid',
  });
  const trip = plan({
    name: 'trip',
    planner: ({ task }) => [
      { id: 'a', description: task === 'plan' ? 'Break' : 'Go around', critical: true },
      { id: 'pay', description: 'Pay', tool: 'pay', args: { cents: 5 }, dependsOn: ['a'] },
    ],
    workers: [work],
    tools: [pay],
  });
  const app = runtime({ app: 'office', store, runnables: [trip] });
  return { app, trip, ...callerOf(app) };
}

describe.each(stores)('the plans of a session on %s', (_name, makeStore) => {
  test('are those of `planViews`, at any event and of any run', async () => {
    const { app, trip, api } = office(makeStore());
    await app.run(trip, { session: 's', input: 'Paris', runId: 'first' });
    const session = await app.sessions.open({ id: 's', observe: false });
    const at = session.events.length;
    const { sessions } = client({
      url: 'http://localhost',
      fetch: (input, init) => api.fetch(new Request(input, init)),
    });
    expect(plain(planViews(session))).toMatchObject([
      { goal: 'Paris', progress: { completed: 1, total: 2 }, revisions: [{}, {}] },
    ]);
    expect(await sessions.plans('s')).toEqual({ plans: plain(planViews(session)), at });
    expect(await sessions.plans('s', { run: 'first', at: 6 })).toEqual({
      plans: plain(planViews(session, { at: 6 })),
      at: 6,
    });
  });
});

test('plans are refused', async () => {
  const { app, trip, get } = office();
  await app.run(trip, { session: 's', input: 'Paris', runId: 'run' });
  expect(await get('/v1/sessions/s/plans?run=other')).toMatchObject({
    status: 404,
    body: { code: 'run_not_found' },
  });
  expect(await get('/v1/sessions/other/plans')).toMatchObject({ status: 404 });
  expect(await get('/v1/sessions/s/plans?at=10000')).toMatchObject({
    status: 400,
    body: { code: 'seq_out_of_range' },
  });
  expect(await get('/v1/sessions/s/plans?at=now')).toMatchObject({ status: 400 });
  expect(await get('/v1/sessions/s/plans?plan=trip')).toMatchObject({ status: 400 });
});
