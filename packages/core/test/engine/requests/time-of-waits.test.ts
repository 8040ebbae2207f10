import { agent, agentTool, memoryStore, parallel, runtime, step, tool } from 'adjutant';
import { eventually, keptOpen, scriptedModel, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { ask, asker } from './asker.ts';

test('the time of a tool does not run while the agent that it called waits', async () => {
  const clock = testClock();
  const app = runtime({ app: 'yields', ports: { clock } });
  const busy = Promise.withResolvers<void>();
  const specialist = asker('specialist');
  const caller = agent({
    name: 'caller',
    model: scriptedModel([
      { toolCalls: [{ name: 'specialist', args: { message: 'Ask' } }] },
      { text: 'asked' },
    ]),
    tools: [agentTool(specialist, { timeoutMs: 1_000 })],
  });
  const both = parallel({
    name: 'both',
    runnables: [caller, step({ name: 'busy', execute: () => busy.promise })],
  });
  const run = app.run(both, { session: 's', input: 'Go' });
  const { ledger } = await app.sessions.open({ id: 's' });
  await eventually(() => ledger.requests.size === 1, { what: 'the question' });
  await ledger.durable();
  clock.advance(60_000);
  const [request] = ledger.requests.values();
  await app.requests.answer(request?.requestId ?? '', { input: { answer: 'red' } });
  await eventually(
    () =>
      ledger.events.some((event) => event.type === 'tool_result' && event.name === 'specialist'),
    { what: 'the result' },
  );
  busy.resolve();
  expect(await run).toMatchObject({ status: 'completed', output: { caller: 'asked' } });
});

test(
  'the time of a child does not run while it waits beside a branch that ' + 'works',
  async () => {
    const clock = testClock();
    const app = runtime({ app: 'yields', ports: { clock } });
    const slow = Promise.withResolvers<void>();
    const after = Promise.withResolvers<string>();
    const work = tool({
      name: 'work',
      description: 'Works',
      schema: z.object({}),
      timeoutMs: 1_000_000,
      execute: () => after.promise,
    });
    const model = scriptedModel([
      { toolCalls: [{ name: 'ask', args: { question: 'Which?' } }] },
      { toolCalls: [{ name: 'work', args: {} }] },
      { text: 'worked' },
    ]);
    const asking = agent({ name: 'asking', model, tools: [ask, work] });
    const calling = step({
      name: 'calling',
      execute: async (ctx) =>
        ctx.complete((await ctx.call(asking, { timeoutMs: 1_000 })).output ?? null),
    });
    const both = parallel({
      name: 'both',
      runnables: [calling, step({ name: 'slow', execute: () => slow.promise })],
    });
    const run = app.run(both, { session: 's', input: 'Go' });
    const { ledger } = await app.sessions.open({ id: 's' });
    await eventually(() => ledger.requests.size === 1, { what: 'the question' });
    const [request] = ledger.requests.values();
    await ledger.durable();
    clock.advance(900);
    await app.requests.answer(request?.requestId ?? '', { input: { answer: 'red' } });
    await eventually(
      () =>
        ledger.events.some(
          (event) => event.type === 'tool_attempt' && event.callId.endsWith('r2.0'),
        ),
      { what: 'the work' },
    );
    clock.advance(900);
    after.resolve('done');
    slow.resolve();
    expect(await run).toMatchObject({ status: 'completed', output: { calling: 'worked' } });
  },
);

test(
  'the time before and after a process that only took in what was posted ' + 'is nobody’s',
  async () => {
    const store = keptOpen(memoryStore());
    const at = (hour: number) => ({ clock: testClock(Date.UTC(2026, 0, 1, hour)) });
    const make = (rounds: number) =>
      agent({
        name: 'asker',
        model: scriptedModel(
          [
            { toolCalls: [{ name: 'ask', args: { question: 'Which?' } }] },
            { text: 'Thank you.' },
          ].slice(rounds),
        ),
        tools: [ask],
      });
    const first = await runtime({
      app: 'yields',
      store,
      recover: 'manual',
      defaults: { inputExpiresInMs: false },
      ports: at(1),
    }).run(make(0), { session: 's', input: 'Go' });
    first.session.addToolInput(first.pendingCalls[0]?.callId ?? '', { answer: 'red' });
    await first.session.flush();
    const second = await runtime({
      app: 'yields',
      store,
      recover: 'manual',
      runnables: [make(1)],
      ports: at(2),
    }).resume('s');
    const { events } = second.session;
    const until = events.findIndex(({ type }) => type === 'tool_input') + 1;
    const third = runtime({
      app: 'yields',
      store: keptOpen(memoryStore()),
      recover: 'manual',
      runnables: [make(1)],
      ports: at(3),
    });
    await third.sessions.restore({ app: 'yields', id: 's', events: events.slice(0, until) });
    const { session, status } = await third.resume('s');
    expect(status).toBe('completed');
    const resumed = session.events.find(({ type }) => type === 'invocation_resume');
    expect(resumed).toMatchObject({ deadline: Date.UTC(2026, 0, 1, 3) + 600_000 });
  },
);
