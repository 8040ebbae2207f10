import { agent, memoryStore, type Runtime, runtime, step, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { payingClerk } from './paying-clerk.ts';

const job = (name: string, onCall: () => unknown = () => undefined) =>
  step({
    name,
    execute: async (ctx) => {
      await onCall();
      return ctx.complete('done');
    },
  });

function desk(options: Partial<Parameters<typeof runtime>[0]> = {}): Runtime {
  return runtime({ app: 'desk', store: memoryStore(), recover: 'manual', ...options });
}

test('a cancel that comes beside a task of a higher priority is carried out too', async () => {
  const quick = job('quick');
  const never = job('never', () => {
    throw new Error('It was cancelled.');
  });
  let urgent: Promise<unknown> | undefined;
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: { type: 'object' },
    execute: async () => {
      // Both come from another process: this one finds them when it looks for more urgent work.
      urgent ??= Promise.all([other.cancel(), front.submit(quick, 'Now', { priority: 'high' })]);
      await urgent;
      return 'seen';
    },
  });
  const model = roundModel([{ toolCalls: [{ name: 'look' }] }, { text: 'Done' }]);
  const slow = agent({ name: 'slow', model, tools: [look] });
  const common = { runnables: [quick, never, slow], store: memoryStore(), work: { slots: 1 } };
  const front = desk(common);
  const task = await front.submit(slow, 'Work');
  const other = await front.submit(never, 'Wait', { priority: 'low' });
  // A cancel that was dropped would come back with the end of the lease.
  const app = desk({ ...common, recover: 'auto', lease: { ttlMs: 3_600_000 } });
  expect(await other.wait()).toMatchObject({ status: 'cancelled' });
  expect(await task.wait()).toMatchObject({ status: 'completed' });
  await app.close();
});

test('equal inputs of different runnables are different tasks', async () => {
  const [writer, reader] = [job('writer'), job('reader')];
  const app = desk({ runnables: [writer, reader] });
  const first = await app.submit(writer, 'Summary', { coalesceKey: true });
  const second = await app.submit(reader, 'Summary', { coalesceKey: true });
  expect([second.joined, second.id === first.id]).toEqual([false, false]);
  await app.close();
});

test('a list is cut after its states were chosen', async () => {
  const writer = job('writer');
  const app = desk({ runnables: [writer] });
  const first = await app.submit(writer, 'first');
  await app.recovery.resumeStopped();
  await first.wait();
  for (const input of ['second', 'third']) await app.submit(writer, input);
  const ids = async (options: Parameters<typeof app.tasks.list>[0]) =>
    (await app.tasks.list(options)).map(({ id }) => id);
  expect(await ids({ states: ['completed'], limit: 1 })).toEqual([first.id]);
  expect(await ids({ states: ['queued'], limit: 1 })).toHaveLength(1);
  await app.close();
});

test('a concurrency key belongs to its tenant, and is told by its own name', async () => {
  const writer = job('writer');
  const app = desk({ runnables: [writer] });
  const key = { concurrencyKey: 'printer' };
  const [a, b] = [app.tenants.get('a'), app.tenants.get('b')];
  const first = await a.submit(writer, 'first', key);
  const second = await a.submit(writer, 'second', key);
  const foreign = await b.submit(writer, 'foreign', key);
  expect(await b.tasks.explain(foreign.id)).not.toHaveProperty('block');
  expect(await a.tasks.explain(second.id)).toMatchObject({
    block: { kind: 'key', key: 'printer', holders: [] },
    text: expect.stringContaining('others have its next places'),
  });
  const [run] = await a.recovery.resumeStopped();
  expect(await run).toMatchObject({ status: 'completed' });
  expect(await first.info()).toMatchObject({ state: 'completed' });
  expect(await a.tasks.explain(second.id)).not.toHaveProperty('block');
  await app.close();
});

test('the profile of an assistant has a place for one realtime task', async () => {
  const writer = job('writer');
  const app = desk({ runnables: [writer], work: { profile: 'assistant' } });
  await app.submit(writer, 'one', { priority: 'realtime' });
  await expect(app.submit(writer, 'two', { priority: 'realtime' })).rejects.toMatchObject({
    code: 'queue_full',
    data: { limit: 'level', most: 1, level: 0 },
  });
  await app.close();
});

test('an answer in the process of its run leaves no turn behind', async () => {
  const clerk = payingClerk('Done');
  const store = memoryStore();
  const app = desk({ runnables: [clerk], store, recover: 'auto' });
  const asking = await app.run(clerk, 'Pay');
  const [asked] = await app.requests.listPendingApprovals({ session: asking.session.id });
  if (asked === undefined) throw new Error('Nothing was asked.');
  await app.requests.approve(asked.requestId);
  const isOver = async () => {
    const { events } = await app.sessions.open({ id: asking.session.id });
    return events.some(({ type }) => type === 'invocation_end');
  };
  while (!(await isOver())) await new Promise(setImmediate);
  const sessions = store.for({ tenant: 'default', app: 'desk' });
  while ((await sessions.turns({})).length > 0) await new Promise(setImmediate);
  await app.close();
});

test('a look right after a result finds its place free', async () => {
  const writer = job('writer');
  const app = desk({ runnables: [writer], work: { slots: 1 } });
  const tasks = [await app.submit(writer, 'first'), await app.submit(writer, 'second')];
  for (const _ of tasks)
    expect(await Promise.all(await app.recovery.resumeStopped())).toHaveLength(1);
  expect((await tasks[1]?.wait())?.status).toBe('completed');
  await app.close();
});
