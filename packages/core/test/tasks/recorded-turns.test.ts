import { memoryStore, type Runtime, runtime, step } from 'adjutant';
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
