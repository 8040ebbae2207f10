import { agent, memoryStore, parallel, runtime, sequence, step } from 'adjutant';
import { keptOpen, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

const expensive = { text: 'ok', usage: { inputTokens: 90, outputTokens: 5 } };

test('a limit of the run is warned of once, whichever agents come near it', async () => {
  const most = { text: 'ok', usage: { inputTokens: 9_100, outputTokens: 5 } };
  const first = agent({ name: 'first', model: scriptedModel([most]) });
  const second = agent({ name: 'second', model: scriptedModel([{ text: 'two' }]) });
  const third = agent({ name: 'third', model: scriptedModel([{ text: 'three' }]) });
  const app = runtime({ app: 'limits' });
  const result = await app.run(sequence({ name: 'line', runnables: [first, second, third] }), {
    input: 'go',
    limits: { tokens: 10_000 },
  });
  const warnings = result.session.events.filter(
    (event) => event.type === 'decision' && event.decision === 'warn',
  );
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({
    component: 'limits',
    data: { reason: 'token_limit', of: 'run' },
  });
  expect(result.output).toBe('three');
});

test('with a store, children that may outlive their caller must be registered', async () => {
  const orphan = step({ name: 'orphan', execute: () => undefined });
  const parent = step({ name: 'parent', execute: (ctx) => void ctx.dispatch(orphan) });
  const store = memoryStore();
  const strict = runtime({
    app: 'strict',
    store: keptOpen(store),
    runnables: [parent],
  });
  await expect(strict.run(parent, { session: 's' })).rejects.toMatchObject({
    code: 'unknown_runnable',
    data: { name: 'orphan' },
  });
  await strict.close();
  const registered = runtime({ app: 'strict', store, runnables: [parent, orphan] });
  const resumed = registered.resume('s');
  expect(await resumed).toMatchObject({ status: 'completed' });
  await resumed.settled();
  await registered.close();
  expect(await runtime({ app: 'loose' }).run(parent)).toMatchObject({ status: 'completed' });
});

test('one session opened twice at once is one ledger', async () => {
  const app = runtime({ app: 'twice', store: memoryStore() });
  const [a, b] = await Promise.all([
    app.sessions.open({ id: 's' }),
    app.sessions.open({ id: 's' }),
  ]);
  a.addMessage('first');
  await a.flush();
  b.addMessage('second');
  await b.flush();
  const texts = (await app.sessions.open({ id: 's' })).events.map((event) =>
    event.type === 'user' ? event.text : event.type,
  );
  expect(texts).toEqual(['first', 'second']);
  await app.close();
});

test('a long first message still gives the session a title', async () => {
  const app = runtime({ app: 'titles', store: memoryStore() });
  const session = await app.sessions.open({ id: 's' });
  session.addMessage(`Please look at this: ${'x'.repeat(200_000)}`);
  await session.flush();
  expect((await app.sessions.list()).sessions[0]?.title).toMatch(/^Please look at this: x+…$/);
  await app.close();
});

test('parallel branches count into one run', async () => {
  const branches = ['a', 'b', 'c'].map((name) =>
    agent({ name, model: scriptedModel([expensive]) }),
  );
  const result = await runtime({ app: 'sum' }).run(
    parallel({ name: 'all', runnables: branches }),
    'go',
  );
  expect(result.usage).toMatchObject({ inputTokens: 270, outputTokens: 15 });
  expect(result.rounds).toBe(3);
});

test('a limit in dollars for a model without a price is said not to hold', async () => {
  const cheap = agent({
    name: 'cheap',
    model: scriptedModel([{ text: 'ok' }]),
    limits: { cost: 1 },
  });
  const { session } = await runtime({ app: 'prices' }).run(cheap, 'go');
  expect(session.events).toContainEqual(
    expect.objectContaining({ type: 'decision', component: 'limits', decision: 'cost_unknown' }),
  );
  const priced = await runtime({
    app: 'prices',
    prices: { scripted: { input: 1, output: 1 } },
  }).run(
    agent({ name: 'cheap', model: scriptedModel([{ text: 'ok' }]), limits: { cost: 1 } }),
    'go',
  );
  expect(priced.cost).toBeGreaterThan(0);
  expect(priced.session.events.some((event) => event.type === 'decision')).toBe(false);
});
