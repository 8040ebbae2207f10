import { agent, memoryStore, run, runtime, step, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const stateSchema = { session: {}, user: { balance: z.number() } };

/** An app in which another session writes the shared balance while code of the first one runs. */
async function rivals() {
  const app = runtime({ app: 'bank', store: memoryStore(), stateSchema });
  const mine = await app.sessions.open({ id: 'mine', userId: 'u1', stateSchema });
  const other = await app.sessions.open({ id: 'other', userId: 'u1', stateSchema });
  const interfere = async (): Promise<void> => {
    await other.observeShared();
    other.state.user.balance = 99;
    await other.flush();
  };
  return { app, mine, interfere };
}

test('the result of a tool that has run lands when its shared write is refused', async () => {
  const { app, mine, interfere } = await rivals();
  let charged = 0;
  const charge = tool({
    name: 'charge',
    description: 'Charge the card',
    schema: z.object({}),
    stateSchema,
    execute: async (ctx) => {
      charged++;
      await interfere();
      ctx.state.user.balance = 1;
      return 'charged';
    },
  });
  const clerk = agent({
    name: 'clerk',
    model: scriptedModel([{ toolCalls: [{ name: 'charge', args: {} }] }, { text: 'done' }]),
    tools: [charge],
  });
  const result = await app.run(clerk, { input: 'charge me', session: mine });
  expect(result).toMatchObject({ status: 'completed', output: 'done' });
  expect(charged).toBe(1);
  const settled = mine.events.find((event) => event.type === 'tool_result');
  expect(settled).toMatchObject({
    result: {
      status: 'success',
      content: 'charged',
      metadata: { stateConflict: { scope: 'user', keys: ['balance'] } },
    },
  });
  expect(mine.events).toContainEqual(
    expect.objectContaining({
      type: 'decision',
      component: 'shared_state',
      decision: 'refuse_write',
    }),
  );
  expect(mine.state.user.balance).toBe(99);
  expect(
    (await app.sessions.open({ id: 'third', userId: 'u1', stateSchema })).state.user.balance,
  ).toBe(99);
  await app.close();
});

test('a step whose shared write is refused fails, and nothing behind it runs', async () => {
  const { app, mine, interfere } = await rivals();
  const book = step({
    name: 'book',
    stateSchema,
    execute: async (ctx) => {
      await interfere();
      ctx.state.user.balance = 1;
      return ctx.complete('booked');
    },
  });
  const result = await app.run(book, { session: mine });
  expect(result).toMatchObject({
    status: 'error',
    error: { code: 'state_conflict' },
    output: undefined,
  });
  await app.close();
});

test(
  'a refused write outside of runs is reported by flush, once, and the ' + 'session goes on',
  async () => {
    const { app, mine, interfere } = await rivals();
    await interfere();
    mine.state.user.balance = 5;
    mine.addMessage('hello');
    await expect(mine.flush()).rejects.toMatchObject({
      code: 'state_conflict',
      data: { keys: ['balance'] },
    });
    await mine.observeShared();
    expect(mine.state.user.balance).toBe(99);
    mine.state.user.balance = 100;
    await mine.flush();
    expect(mine.events.map(({ seq }) => seq)).toEqual(mine.events.map((_, i) => i + 1));
    expect(mine.events.filter(({ type }) => type === 'user')).toHaveLength(1);
    await app.close();
  },
);

test('what a refused write leaves in the store is what the session shows', async () => {
  const { app, mine, interfere } = await rivals();
  await interfere();
  mine.state.user.balance = 5;
  await mine.flush().catch(() => undefined);
  const result = await run(step({ name: 'look', execute: () => undefined }), { session: mine });
  const stored = result.session.events.map(({ id, type }) => `${id} ${type}`);
  await mine.ledger.release();
  const again = await app.sessions.open({ id: 'mine', userId: 'u1', stateSchema });
  expect(again.events.map(({ id, type }) => `${id} ${type}`)).toEqual(stored);
  await app.close();
});
