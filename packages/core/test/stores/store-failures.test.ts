import { agent, isAdjutantError, memoryStore, runtime, type Store, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { StoreUnavailableError } from '../../src/ledger/errors.ts';
import type { LedgerStore } from '../../src/ledger/port.ts';

type Replaced = {
  readonly [Method in keyof LedgerStore]?: (original: LedgerStore[Method]) => LedgerStore[Method];
};

/** A store in memory with some methods replaced. */
function storeWith(replaced: Replaced): Store {
  const inner = memoryStore();
  return {
    description: 'failing',
    admin: inner.admin,
    close: () => inner.close(),
    for: (scope) => {
      const ledgers = inner.for(scope);
      return new Proxy(ledgers, {
        get: (target, name) => {
          const method = (
            target as unknown as Record<PropertyKey, (...given: unknown[]) => unknown>
          )[name]?.bind(target);
          const replace = (
            replaced as Record<PropertyKey, ((original: unknown) => unknown) | undefined>
          )[name];
          return replace === undefined ? method : replace(method);
        },
      });
    },
  };
}

const readOnly = new StoreUnavailableError({
  store: 'db',
  reason: 'it is read-only for this process',
  permanent: true,
});
const locked = new StoreUnavailableError({ store: 'db', reason: 'it is locked' });

test(
  'a store that fails stops the run for what it said, and another process can go ' + 'on at once',
  async () => {
    let fails = false;
    let reason: unknown;
    const store = storeWith({
      append:
        (append) =>
        (...given) =>
          fails ? Promise.reject(readOnly) : append(...given),
    });
    const app = runtime({ app: 'shop', store });
    const wait = tool({
      name: 'wait',
      description: 'Waits',
      schema: z.object({}),
      execute: async (ctx) => {
        fails = true;
        const aborted = new Promise<void>((resolve) =>
          ctx.signal.addEventListener('abort', () => resolve(), { once: true }),
        );
        session.addMessage('meanwhile');
        await aborted;
        reason = ctx.signal.reason;
      },
    });
    const session = await app.sessions.open({ id: 's' });
    const waiter = agent({
      name: 'waiter',
      model: scriptedModel([{ toolCalls: [{ name: 'wait' }] }]),
      tools: [wait],
    });
    await expect(Promise.resolve(app.run(waiter, { session, input: 'go' }))).rejects.toBe(readOnly);
    expect(reason).toMatchObject({
      code: 'stopped',
      message: expect.stringContaining('read-only'),
    });
    const claim = await store
      .for({ tenant: 'default', app: 'shop' })
      .claim('s', 'another', { ttlMs: 1_000 });
    expect(claim.epoch).toBe(2);
  },
);

test('a session is given back when there is nothing to resume', async () => {
  const store = memoryStore();
  const app = runtime({ app: 'shop', store });
  const session = await app.sessions.open({ id: 's' });
  session.addMessage('hello');
  await session.flush();
  await expect(Promise.resolve(app.resume(session))).rejects.toMatchObject({ code: 'no_open_run' });
  expect(
    await store.for({ tenant: 'default', app: 'shop' }).claim('s', 'another', { ttlMs: 1_000 }),
  ).toMatchObject({ owner: 'another' });
});

test(
  'shared state that cannot be read gives the run back, and nothing is ' + 'recorded of it',
  async () => {
    const stateSchema = { session: {}, user: { name: z.string() } };
    let fails = false;
    const store = storeWith({
      readShared:
        (readShared) =>
        (...given) =>
          fails ? Promise.reject(locked) : readShared(...given),
    });
    const look = tool({
      name: 'look',
      description: 'Looks',
      schema: z.object({}),
      execute: () => {
        fails = true;
        return 'seen';
      },
    });
    const looker = agent({
      name: 'looker',
      model: scriptedModel([{ toolCalls: [{ name: 'look' }] }, { text: 'done' }]),
      tools: [look],
    });
    const app = runtime({ app: 'shop', store, stateSchema, runnables: [looker] });
    const session = await app.sessions.open({ id: 's', userId: 'u' });
    await expect(Promise.resolve(app.run(looker, { session, input: 'go' }))).rejects.toBe(locked);
    expect(session.events.at(-1)).toMatchObject({
      type: 'tool_result',
      result: { content: 'seen' },
    });
    expect(session.ledger.durable()).toBeUndefined();
    fails = false;
    expect(await app.resume(session)).toMatchObject({ status: 'completed', output: 'done' });
  },
);

test('a model call that was interrupted costs what its prompt was estimated at', async () => {
  const price = { input: 1_000_000, output: 1 };
  const model = scriptedModel([{ text: 'never heard', delayMs: 60_000 }, { text: 'done' }]);
  const talker = agent({ name: 'talker', model });
  const app = runtime({
    app: 'shop',
    prices: { [`${model.provider}:${model.modelId}`]: price },
    runnables: [talker],
  });
  const session = await app.sessions.open({ id: 's' });
  const running = app.run(talker, { session, input: 'go' });
  const stopped = Promise.resolve(running).catch((error: unknown) =>
    isAdjutantError(error, 'run_stopped'),
  );
  for await (const event of running) if (event.type === 'model_start') break;
  running.stop();
  expect(await stopped).toBe(true);
  await app.resume(session);
  const ended = session.events.find((event) => event.type === 'model_end');
  expect(ended).toMatchObject({ status: 'interrupted', estimated: true });
  expect(ended?.type === 'model_end' && ended.cost).toBe(
    ended?.type === 'model_end' && ended.usage.inputTokens,
  );
});
