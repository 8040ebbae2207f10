import { agent, memoryStore, runtime, tool } from 'adjutant';
import { scriptedModel, testClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { client } from '../../src/client/index.ts';
import { callerOf } from './caller.ts';

/** Two agents whose one tool takes ten milliseconds, and fails for order 13. */
function working() {
  const clock = testClock();
  const lookUp = tool({
    name: 'look_up',
    description: 'Looks an order up.',
    schema: z.object({ order: z.string() }),
    execute: ({ args: { order } }) => {
      clock.advance(10);
      if (order === '13') throw new Error('There is no such order');
      return 'sent';
    },
  });
  const make = (name: string) =>
    agent({
      name,
      tools: [lookUp],
      model: scriptedModel((prompt) => {
        const last = prompt.at(-1);
        if (last?.role !== 'user') return { text: 'Done.' };
        const order = JSON.stringify(last.content).includes('13') ? '13' : '7';
        return { toolCalls: [{ name: 'look_up', args: { order } }] };
      }),
    });
  const agents = { support: make('support'), sales: make('sales') };
  const app = runtime({
    app: 'shop',
    store: memoryStore({ clock }),
    runnables: Object.values(agents),
    ports: { clock },
  });
  const caller = callerOf(app);
  const { usage } = client({
    url: 'http://localhost',
    fetch: async (input, init) => await caller.api.fetch(new Request(input, init)),
  });
  return { clock, app, ...agents, ...caller, usage };
}

test('calls, failures and durations of tools are summed, and narrowed', async () => {
  const { clock, app, support, sales, usage, get } = working();
  const begin = clock.now();
  await app.run(support, {
    session: await app.sessions.open({ id: 'a', userId: 'ann' }),
    input: 'Order 7',
  });
  clock.advance(60_000);
  const later = clock.now();
  await app.run(sales, { session: 'b', input: 'Order 13' });
  expect(await usage.tools()).toEqual({
    tools: [{ tool: 'look_up', calls: 2, failed: 1, durationMs: 20, longestMs: 10 }],
    rounds: [
      { agent: 'sales', rounds: 2, durationMs: 10, longestMs: 10 },
      { agent: 'support', rounds: 2, durationMs: 10, longestMs: 10 },
    ],
    complete: true,
  });
  const calls = async (query: Parameters<typeof usage.tools>[0]) =>
    (await usage.tools(query)).tools.map((one) => [one.calls, one.failed]);
  expect(await calls({ agent: 'sales' })).toEqual([[1, 1]]);
  expect(await calls({ user: 'ann' })).toEqual([[1, 0]]);
  expect(await calls({ session: 'a' })).toEqual([[1, 0]]);
  expect(await calls({ from: begin, to: later })).toEqual([[1, 0]]);
  expect(await calls({ from: later + 60_000 })).toEqual([]);
  expect((await get('/v1/usage/tools?session=nowhere')).status).toBe(404);
  expect((await get('/v1/usage/tools?from=yesterday')).status).toBe(400);
  expect((await get('/v1/usage/tools?color=red')).status).toBe(400);
});

test('a fork counts its own calls only, and a page says whether it has everything', async () => {
  const { app, support, usage } = working();
  await app.run(support, { session: 'a', input: 'Order 7' });
  const fork = await app.sessions.fork('a');
  await app.run(support, { session: fork.id, input: 'Order 7' });
  expect((await usage.tools()).tools).toMatchObject([{ calls: 2 }]);
  const first = await usage.tools({ limit: 1 });
  expect(first).toMatchObject({ complete: false, tools: [{ calls: 1 }] });
  const second = await usage.tools({ limit: 1, cursor: first.cursor });
  expect(second).toMatchObject({ complete: false, tools: [{ calls: 1 }] });
});

test('the client reads whether a process can work', async () => {
  const { app, api } = working();
  const { readiness } = client({
    url: 'http://localhost',
    fetch: async (input, init) => await api.fetch(new Request(input, init)),
  });
  expect(await readiness()).toMatchObject({ status: 'ready', store: 'ok', closing: false });
  await app.store.close?.();
  await api.close();
  expect(await readiness()).toMatchObject({ status: 'not_ready', closing: true });
});
