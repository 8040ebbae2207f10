import { agent, memoryStore, type Runtime, runtime, type Store, tool } from 'adjutant';
import type { Batch, LedgerStore } from 'adjutant/store';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/** Does something right before a batch that says that a run waits. */
function beforeParking(store: Store, act: (session: string) => Promise<void>): Store {
  const wrap = (ledgers: LedgerStore): LedgerStore =>
    new Proxy(ledgers, {
      get(target, key) {
        if (key !== 'append')
          return (target[key as keyof LedgerStore] as (...args: unknown[]) => unknown).bind(target);
        return async (session: string, expected: never, batch: Batch) => {
          if (batch.events.some(({ type }) => type === 'invocation_yield')) await act(session);
          return target.append(session, expected, batch);
        };
      },
    });
  return {
    description: store.description,
    admin: store.admin,
    for: (scope) => wrap(store.for(scope)),
    close: () => store.close(),
  };
}

test('an answer that comes while a run is giving its session back is not left lying', async () => {
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    schema: z.object({}),
    yieldSchema: z.object({ colour: z.string() }),
  });
  const asking = agent({
    name: 'asking',
    model: scriptedModel([{ toolCalls: [{ name: 'ask', args: {} }] }, { text: 'Thanks.' }]),
    tools: [ask],
  });
  const store = memoryStore();
  const other: Runtime = runtime({ app: 'parking', store, runnables: [asking], recover: 'manual' });
  const parking = beforeParking(store, async (session) => {
    const [request] = await other.requests.list({ session, status: 'pending' });
    if (request !== undefined)
      await other.requests.answer(request.requestId, { input: { colour: 'red' } });
  });
  const app = runtime({ app: 'parking', store: parking, runnables: [asking], recover: 'manual' });
  // The answer came before the run had given the session back, so the run goes on.
  expect(await app.run(asking, 'Go')).toMatchObject({ status: 'completed', output: 'Thanks.' });
});
