import { agent, memoryStore, runtime } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, onTestFinished, test } from 'vitest';
import { hooked, turns } from '../run/hooked-store.ts';

test('parts of an answer come behind the durable events that were made before them', async () => {
  const { promise: mayLand, resolve: land } = Promise.withResolvers<void>();
  const called = Promise.withResolvers<void>();
  const model = scriptedModel(() => {
    called.resolve();
    return { text: 'Half of it' };
  });
  const store = hooked(memoryStore(), {
    before: (method) => (method === 'append' ? mayLand : undefined),
  });
  const app = runtime({ app: 'order', store });
  onTestFinished(() => app.close());
  const told: string[] = [];
  const run = app.run(agent({ name: 'clerk', model }), {
    input: 'Hi',
    onStream: ({ type }) => void told.push(type),
  });
  await called.promise;
  // The model answers while nothing of the ledger is durable yet.
  await turns();
  expect(told).toEqual([]);
  land();
  await run;
  const first = told.indexOf('assistant_delta');
  expect(first).toBeGreaterThan(told.indexOf('model_start'));
  expect(told.lastIndexOf('assistant_delta')).toBeLessThan(told.indexOf('assistant'));
});
