import { agent, memoryStore, type Runtime, runtime, step } from 'adjutant';
import { replay } from 'adjutant/replay';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

const failing = step({
  name: 'failing',
  execute: async () => {
    throw new Error('It does not work.');
  },
});

function desk(): Runtime {
  return runtime({ app: 'desk', store: memoryStore(), runnables: [failing], recover: 'manual' });
}

async function runAll(app: Runtime): Promise<void> {
  await Promise.allSettled(await app.recovery.resumeStopped());
}

const settings = {
  concurrencyKey: { name: 'desk', limit: 1, hold: 'task' },
  rate: { name: 'mail', limit: 10, perMs: 1_000 },
  coalesceKey: 'report',
  estimateMs: 5_000,
} as const;

test('the ledger of a task says all settings of its turn', async () => {
  const app = desk();
  const task = await app.submit(failing, 'x', { ...settings, notBefore: 1_000 });
  await runAll(app);
  const { events } = await app.sessions.open({ id: task.session });
  expect(events).toContainEqual(
    expect.objectContaining({
      decision: 'enqueue',
      data: expect.objectContaining({
        key: { name: 'default/desk', limit: 1, hold: 'task' },
        rate: { name: 'default/mail', limit: 10, perMs: 1_000 },
        ...{ coalesceKey: 'report', estimateMs: 5_000, notBefore: 1_000 },
      }),
    }),
  );
  await app.close();
});

test('a task that is executed again does not pass its keys', async () => {
  const app = desk();
  const task = await app.submit(failing, 'x', settings);
  await runAll(app);
  await app.tasks.retry(task.id);
  const turn = await app.store.for({ tenant: 'default', app: 'desk' }).turn(task.session);
  expect(turn).toMatchObject({ key: { name: 'default/desk' }, rate: { name: 'default/mail' } });
  await app.close();
});

test('the ledger says that a task was discarded', async () => {
  const app = desk();
  const task = await app.submit(failing, 'x', {});
  await runAll(app);
  await app.tasks.discard(task.id);
  await app.run(failing, { session: task.session, input: 'again' }).catch(() => undefined);
  const { events } = await app.sessions.open({ id: task.session });
  expect(events).toContainEqual(
    expect.objectContaining({ component: 'scheduler', decision: 'discard', by: 'operator' }),
  );
  await app.close();
});

test('the ledger says who joined a task and who left it, and replays', async () => {
  const writer = agent({ name: 'writer', model: roundModel([{ text: 'Done' }]) });
  const app = runtime({
    ...{ app: 'desk', store: memoryStore(), runnables: [writer], recover: 'manual' },
  });
  const same = { coalesceKey: 'report', requester: 'ann' };
  const first = await app.submit(writer, 'x', { ...same, key: '1', priority: 'low' });
  const second = await app.submit(writer, 'x', { ...same, key: '2', priority: 'high' });
  // The same submission again is no other caller.
  await app.submit(writer, 'x', { ...same, key: '2', priority: 'high' });
  expect(second).toMatchObject({ joined: true, id: first.id });
  await second.cancel({ by: 'user:ann', reason: 'Too late.' });
  await runAll(app);
  expect(await first.info()).toMatchObject({ state: 'completed' });
  const session = await app.sessions.open({ id: first.session });
  const told = session.events.filter((event) => event.type === 'decision');
  expect(told.map(({ decision }) => decision)).toEqual(['coalesce', 'leave', 'enqueue']);
  expect(told[0]).toMatchObject({ by: 'user:ann', data: { level: 1 } });
  expect(told[1]).toMatchObject({ by: 'user:ann', reasoning: 'Too late.' });
  expect((await replay(session, app)).divergence).toBeUndefined();
  await app.close();
});
