import { type Event, memoryStore, runtime, step } from 'adjutant';
import { expect, test } from 'vitest';

const texts = (events: readonly Event[]) =>
  events.flatMap((event) => (event.type === 'user' ? [event.text] : []));

/**
 * A step that waits until it is told to stop, and the one that takes its place in the next process.
 */
function waiting() {
  const begun = Promise.withResolvers<void>();
  const stuck = step({
    name: 'work',
    execute: async (ctx) => {
      begun.resolve();
      await new Promise((_resolve, reject) =>
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)),
      );
    },
  });
  return {
    stuck,
    begun: begun.promise,
    quick: step({ name: 'work', execute: (ctx) => ctx.complete('done') }),
  };
}

test('a run with a name that is asked for again after a stop takes its input once', async () => {
  const store = memoryStore();
  const { stuck, begun, quick } = waiting();
  const request = { session: 's', runId: 'order-17', input: 'ship it' };
  const first = runtime({ app: 'names', store, recover: 'manual' }).run(stuck, request);
  await begun;
  first.stop();
  await expect(first).rejects.toMatchObject({ code: 'run_stopped' });
  const second = await runtime({ app: 'names', store, recover: 'manual' }).run(quick, request);
  expect(second).toMatchObject({ status: 'completed', output: 'done', runId: 'order-17' });
  expect(texts(second.session.events)).toEqual(['ship it']);
  const third = await runtime({ app: 'names', store, recover: 'manual' }).run(quick, request);
  expect(texts(third.session.events)).toEqual(['ship it']);
});

test('another input of the same name is a message to the open run', async () => {
  const store = memoryStore();
  const { stuck, begun, quick } = waiting();
  const first = runtime({ app: 'names', store, recover: 'manual' }).run(stuck, {
    session: 's',
    runId: 'order-17',
    input: 'ship it',
  });
  await begun;
  first.stop();
  await first.settled();
  const second = await runtime({ app: 'names', store, recover: 'manual' }).run(quick, {
    session: 's',
    runId: 'order-17',
    input: 'and quickly',
  });
  expect(texts(second.session.events)).toEqual(['ship it', 'and quickly']);
});

test('without a name the same words twice are two messages', async () => {
  const store = memoryStore();
  const { stuck, begun, quick } = waiting();
  const first = runtime({ app: 'names', store, recover: 'manual' }).run(stuck, {
    session: 's',
    input: 'go on',
  });
  await begun;
  first.stop();
  await first.settled();
  const second = await runtime({ app: 'names', store, recover: 'manual' }).run(quick, {
    session: 's',
    input: 'go on',
  });
  expect(texts(second.session.events)).toEqual(['go on', 'go on']);
});
