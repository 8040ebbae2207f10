import { agent, memoryStore, type Runtime, runtime, step, tool } from 'adjutant';
import { roundModel, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const scope = { tenant: 'default', app: 'desk' };

/** An agent that calls a tool which waits for approval, once. */
function buyer(approval: NonNullable<Parameters<typeof tool>[0]['approval']>) {
  const buy = tool({
    name: 'buy',
    description: 'Buys',
    schema: { type: 'object' },
    approval,
    execute: () => 'bought',
  });
  const model = roundModel([{ toolCalls: [{ name: 'buy', args: {} }] }, { text: 'Done' }]);
  return agent({ name: 'buyer', model, tools: [buy] });
}

async function idOf(app: Runtime, session: string): Promise<string> {
  const [request] = await app.requests.list({ session, status: 'pending' });
  return request?.requestId ?? '';
}

const parent = step({
  name: 'parent',
  execute: async (ctx) =>
    ctx.complete(await ctx.ask('n', { message: 'How many?', schema: z.object({ n: z.number() }) })),
});

test('requests come back with what became of them', async () => {
  const clock = testClock();
  const store = memoryStore({ clock });
  const clerk = buyer({ expiresInMs: 60_000 });
  const runnables = [clerk, parent];
  const app = runtime({ app: 'desk', store, runnables, recover: 'manual', ports: { clock } });
  const sessions = ['approved', 'rejected', 'cancelled', 'expired', 'posted', 'pending'];
  for (const session of sessions) await app.run(clerk, { session, input: 'x' });
  await app.run(parent, { session: 'question', input: 'x' });
  clock.advance(2_000);
  await app.requests.approve(await idOf(app, 'approved'), { by: 'user:ann' });
  await app.requests.reject(await idOf(app, 'rejected'), { by: 'user:bob', reason: 'No.' });
  await app.cancel('cancelled');
  await app.cancel('question');
  for (const session of ['approved', 'rejected']) await app.resume(session);
  for (const session of ['cancelled', 'question']) await app.advance(session);
  clock.advance(30_000);
  await app.requests.approve(await idOf(app, 'posted'), { by: 'user:ann' });
  const pending = await idOf(app, 'pending');
  clock.advance(40_000);
  await app.advance('expired');
  const ledgers = store.for(scope);
  const before = await ledgers.requests();
  expect(before.map(({ session, status }) => `${session} ${status}`).sort()).toEqual([
    'approved answered',
    'cancelled cancelled',
    'expired expired',
    'pending pending',
    'posted answered',
    'question cancelled',
    'rejected answered',
  ]);
  expect((await app.sessions.rebuild({ dryRun: true })).rebuilt).toEqual([]);
  for (const session of [...sessions, 'question']) {
    const head = await ledgers.head(session);
    if (head !== undefined)
      await store.admin.replaceRows({ ...scope, session }, head, { requests: [] });
  }
  expect(await ledgers.requests()).toEqual([]);
  expect((await app.sessions.rebuild()).rebuilt).toHaveLength(7);
  expect(await ledgers.requests()).toEqual(before);
  // A request that came back can be answered as before: it has expired meanwhile.
  await expect(app.requests.approve(pending, { by: 'user:ann' })).rejects.toMatchObject({
    code: 'request_settled',
  });
  await app.close();
});

test('requests that were escalated, refused or left come back, too', async () => {
  const clock = testClock();
  const store = memoryStore({ clock });
  const ledgers = store.for(scope);
  const escalating = buyer({ onExpire: 'escalate', escalateTo: ['boss'], expiresInMs: 60_000 });
  const caller = step({
    name: 'caller',
    execute: async (ctx) => ctx.complete((await ctx.call(parent, { key: 'child' })).output ?? null),
  });
  const runnables = [escalating, caller];
  const app = runtime({ app: 'desk', store, runnables, recover: 'manual', ports: { clock } });
  await app.run(escalating, { session: 'escalated', input: 'x' });
  await app.run(caller, { session: 'cancelled', input: 'x' });
  clock.advance(61_000);
  await app.advance('escalated');
  // Any process can post an answer, also one that may not decide.
  const settles = await idOf(app, 'escalated');
  await ledgers.post('escalated', {
    ...{ key: 'k', lane: 'input', by: 'user:ann', at: clock.now(), type: 'tool_input', settles },
    data: { decision: 'approve' },
  });
  await app.advance('escalated');
  await app.cancel('cancelled');
  await app.advance('cancelled');
  const before = await ledgers.requests();
  expect(before.map(({ session, status }) => `${session} ${status}`)).toEqual(
    expect.arrayContaining([
      'cancelled cancelled',
      'escalated answered',
      'escalated escalated',
      'escalated pending',
    ]),
  );
  expect((await app.sessions.rebuild({ dryRun: true })).rebuilt).toEqual([]);
  for (const session of ['escalated', 'cancelled']) {
    const head = await ledgers.head(session);
    if (head !== undefined)
      await store.admin.replaceRows({ ...scope, session }, head, { requests: [] });
  }
  await app.sessions.rebuild();
  expect(await ledgers.requests()).toEqual(before);
  await app.close();
});
