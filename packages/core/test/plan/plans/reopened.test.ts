import { runtime, step } from 'adjutant';
import { plan, planViews } from 'adjutant/plan';
import { expect, test } from 'vitest';
import { doneTwice } from '../../crash/plan-scenarios.ts';

test('a plan that failed is opened again: it goes on where it stood, and counts anew', async () => {
  let isBroken = true;
  const work = step({ name: 'work', execute: (ctx) => ctx.complete('done') });
  const breaks = step({
    name: 'breaks',
    execute: (ctx) => (isBroken ? ctx.fail('It is broken.') : ctx.complete('mended')),
  });
  const trip = plan({
    name: 'trip',
    planner: () => [
      { id: 'a', description: 'Begin' },
      { id: 'b', description: 'Break', worker: 'breaks', critical: true, dependsOn: ['a'] },
      { id: 'c', description: 'End', dependsOn: ['b'] },
    ],
    workers: [work, breaks],
    limits: { replans: 1 },
  });
  const app = runtime({ app: 'plans' });
  const failed = await app.run(trip, { session: 's', input: 'Go', runId: 'run' });
  expect(failed.error?.code).toBe('plan_failed');
  await expect(app.sessions.reopen('s', { path: 'run/b', reason: 'Mended' })).rejects.toMatchObject(
    { code: 'not_reopenable' },
  );
  await app.sessions.reopen('s', { reason: 'Somebody looked' });
  // It is still broken: one replan more, then it gives up again.
  expect((await app.resume('s')).error?.code).toBe('plan_failed');
  isBroken = false;
  await app.sessions.reopen('s', { reason: 'Mended' });
  const { output, session } = await app.resume('s');
  expect(output).toEqual({ a: 'done', b: 'mended', c: 'done' });
  expect(doneTwice(session.events)).toEqual([]);
  expect(planViews(session)[0]?.status).toBe('completed');
});

test('a plan that was rejected, or has no planner that answers, is asked for again', async () => {
  let answers: unknown = 'Nothing';
  const trip = plan({
    name: 'trip',
    planner: () => answers as never,
    workers: [step({ name: 'work', execute: (ctx) => ctx.complete('done') })],
    review: 'first',
  });
  const app = runtime({ app: 'plans' });
  const { error } = await app.run(trip, { session: 's', input: 'Go', runId: 'run' });
  expect(error?.code).toBe('plan_invalid');
  answers = [{ id: 'a', description: 'Begin' }];
  await app.sessions.reopen('s', { reason: 'Mended' });
  const answer = async (decision: 'approve' | 'reject') => {
    const [request] = await app.requests.list({ status: 'pending' });
    await app.requests.answer(request?.requestId ?? '', { decision, by: 'user:ann' });
    return app.resume('s');
  };
  await app.resume('s');
  expect((await answer('reject')).error?.code).toBe('plan_rejected');
  await app.sessions.reopen('s', { reason: 'She thinks again' });
  await app.resume('s');
  expect((await answer('approve')).output).toEqual({ a: 'done' });
});
