import { memoryStore, runtime, type StepContext, step } from 'adjutant';
import { testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';

const minute = 60_000;

/** A step whose output is what `work` gives, and an app that has it. */
function opened(work: (ctx: StepContext) => Promise<string>) {
  const asking = step({ name: 'asking', execute: async (ctx) => ctx.complete(await work(ctx)) });
  const clock = testClock();
  const store = memoryStore({ clock });
  const app = runtime({
    app: 'waits',
    recover: 'manual',
    store,
    runnables: [asking],
    ports: { clock },
  });
  return { app, asking, clock };
}

const ask = (ctx: StepContext) => ctx.ask('title', { message: 'Title?', expiresInMs: minute });

test('a reopened step asks the question again that nobody answered in time', async () => {
  const { app, asking, clock } = opened(ask);
  await app.run(asking, { session: 's', runId: 'run' });
  clock.advance(2 * minute);
  expect((await app.resume('s')).error?.code).toBe('question_expired');
  await app.sessions.reopen('s', { reason: 'ann is back' });
  const again = await app.resume('s');
  expect(again.status).toBe('yielded');
  await app.requests.answer(again.pendingCalls[0]?.requestId ?? '', { input: 'Our year' });
  expect((await app.resume('s')).output).toBe('Our year');
});

test('a question that was rejected is asked again when it is opened by its path', async () => {
  const { app, asking } = opened(ask);
  const waiting = await app.run(asking, { session: 's', runId: 'run' });
  await app.requests.reject(waiting.pendingCalls[0]?.requestId ?? '', { reason: 'no' });
  expect((await app.resume('s')).error?.code).toBe('question_rejected');
  await app.sessions.reopen('s', { path: 'run/title', reason: 'a mistake' });
  const again = await app.resume('s');
  await app.requests.answer(again.pendingCalls[0]?.requestId ?? '', { input: 'Yes' });
  expect((await app.resume('s')).output).toBe('Yes');
});

test('questions and sleeps of a cancelled run wait again', async () => {
  const { app, asking, clock } = opened(async (ctx) => {
    const [title] = await Promise.all([ask(ctx), ctx.sleep('embargo', 10 * minute)]);
    return title;
  });
  await app.run(asking, { session: 's', runId: 'run' });
  await app.cancel('s', { reason: 'too early' });
  expect((await app.resume('s', { runId: 'run' })).status).toBe('cancelled');
  await app.sessions.reopen('s', { reason: 'after all' });
  const again = await app.resume('s');
  expect(again.status).toBe('yielded');
  await app.requests.answer(again.pendingCalls[0]?.requestId ?? '', { input: 'Yes' });
  clock.advance(10 * minute);
  expect((await app.resume('s')).output).toBe('Yes');
});

test('a question whose failure the step has dealt with keeps it', async () => {
  let stock = 0;
  const { app, asking, clock } = opened(async (ctx) => {
    const title = await ask(ctx).catch(() => 'Untitled');
    await ctx.effect('note', () => 'noted');
    if (stock === 0) throw new Error('no stock');
    return title;
  });
  await app.run(asking, { session: 's', runId: 'run' });
  clock.advance(2 * minute);
  expect((await app.resume('s')).status).toBe('error');
  stock = 1;
  await app.sessions.reopen('s', { reason: 'counted' });
  expect((await app.resume('s')).output).toBe('Untitled');
});
