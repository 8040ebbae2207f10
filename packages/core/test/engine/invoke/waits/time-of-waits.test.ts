import {
  agent,
  loop,
  memoryStore,
  parallel,
  type Runnable,
  runtime,
  type StepContext,
  step,
  tool,
} from 'adjutant';
import { eventually, roundModel, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';

const hours = 3_600_000;
/** Time limit of everything here. */
const timeoutMs = 1_000;

const asker = step({
  name: 'asker',
  execute: async (ctx) =>
    ctx.complete(await ctx.ask('name', { message: 'Which name?', expiresInMs: false })),
});
const doing = (name: string, work: (ctx: StepContext) => Promise<unknown>) =>
  step({ name, execute: async (ctx) => ctx.complete((await work(ctx)) as never) });

/** An app whose runs have a second of their own, and a clock that goes on when told. */
function start() {
  const clock = testClock();
  const app = runtime({
    app: 'waits',
    store: memoryStore({ clock }),
    recover: 'manual',
    ports: { clock },
    limits: { timeoutMs },
  });
  const answered = async (runnable: Runnable) => {
    const first = await app.run(runnable, { input: 'Go' });
    expect(first.status).toBe('yielded');
    clock.advance(hours);
    for (const { kind, requestId } of first.pendingCalls)
      await (kind === 'approval'
        ? app.requests.approve(requestId, { by: 'user:ann' })
        : app.requests.answer(requestId, { input: 'Ann' }));
    const { status, output, error } = await app.resume(runnable, first.session);
    return { status, output, error };
  };
  return { app, clock, answered };
}

const pay = tool({
  name: 'pay',
  description: 'Pays',
  schema: { type: 'object' },
  approval: { expiresInMs: false },
  timeoutMs,
  execute: () => 'paid',
});
const payer = agent({
  name: 'payer',
  model: roundModel([{ toolCalls: [{ name: 'pay' }] }, { text: 'Paid.' }]),
  tools: [pay],
});
const asking = tool({
  name: 'asking',
  description: 'Asks',
  schema: { type: 'object' },
  timeoutMs,
  execute: async (ctx) => (await ctx.call(asker, { timeoutMs })).output,
});
const boss = agent({
  name: 'boss',
  model: roundModel([{ toolCalls: [{ name: 'asking' }] }, { text: 'Asked.' }]),
  tools: [asking],
});

test.each<readonly [string, Runnable, unknown]>([
  ['a run and a step', asker, 'Ann'],
  ['a call', doing('caller', async (ctx) => (await ctx.call(asker, { timeoutMs })).output), 'Ann'],
  [
    'a branch',
    parallel({ name: 'all', runnables: [asker], branchTimeoutMs: timeoutMs }),
    { asker: 'Ann' },
  ],
  ['an agent that waits for an approval', payer, 'Paid.'],
  ['a tool whose child asks', boss, 'Asked.'],
])('the time in which a question waits does not count for %s', async (_what, runnable, output) => {
  const { answered } = start();
  expect(await answered(runnable)).toEqual({ status: 'completed', output, error: undefined });
});

test('the time in which a run waits for a message does not count', async () => {
  const { app, clock } = start();
  const bot = agent({ name: 'bot', model: roundModel([{ text: 'Hello.' }]) });
  const chat = loop({ name: 'chat', yields: true, runnable: bot });
  const { session } = await app.run(chat, 'Hi');
  clock.advance(hours);
  expect((await app.run(chat, { input: 'Still there?', session })).status).toBe('yielded');
});

test('a sleep does not count either, unless it is so short that the session is kept', async () => {
  const { app, clock } = start();
  const sleeper = doing('sleeper', async (ctx) => {
    await ctx.sleep('night', 8 * hours);
    await ctx.sleep('nap', 3_000);
  });
  const { session, status } = await app.run(sleeper);
  expect(status).toBe('yielded');
  clock.advance(8 * hours);
  const running = app.resume(sleeper, session);
  const isAsleep = () => session.events.some(({ invocationId }) => invocationId?.endsWith('/nap'));
  await eventually(isAsleep, { what: 'the nap' });
  expect(session.events.at(-1)).toMatchObject({ type: 'invocation_start' });
  clock.advance(3_000);
  expect((await running).error).toMatchObject({ code: 'timeout' });
});

test('of a run that works beside, only the part that waits stands still', async () => {
  const { app, clock } = start();
  const { promise, resolve } = Promise.withResolvers<string>();
  const both = doing('both', async (ctx) => {
    const [asked, worked] = await Promise.allSettled([
      ctx.call(asker, { timeoutMs }),
      ctx.call(
        doing('worker', (inner) => inner.effect('work', () => promise, { timeoutMs: 9 * hours })),
        { timeoutMs },
      ),
    ]);
    return [asked, worked].map((end) => (end.status === 'fulfilled' ? end.value.status : 'thrown'));
  });
  const session = await app.sessions.open();
  const running = app.run(both, { session, timeoutMs: 9 * hours });
  await eventually(() => session.events.some(({ type }) => type === 'tool_yield'), {
    what: 'the question',
  });
  clock.advance(hours);
  resolve('late');
  await eventually(
    () =>
      session.events.some(
        ({ type, invocationId }) =>
          type === 'invocation_end' && invocationId?.endsWith('/worker') === true,
      ),
    { what: 'the end of the worker' },
  );
  const asked = session.events.find(({ type }) => type === 'tool_yield');
  const requestId = asked?.type === 'tool_yield' ? asked.requestId : '';
  await app.requests.answer(requestId, { input: 'Ann' });
  const first = await running;
  const { output } = first.status === 'yielded' ? await app.resume(both, session) : first;
  expect(output).toEqual(['completed', 'error']);
});
