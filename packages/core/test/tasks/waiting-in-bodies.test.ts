import { agent, memoryStore, type Runtime, runtime, step, tool } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';

const job = step({ name: 'job', execute: async (ctx) => ctx.complete('done') });

function desk(options: Partial<Parameters<typeof runtime>[0]> = {}): Runtime {
  return runtime({ app: 'desk', store: memoryStore(), ...options });
}

/** Submits a task and waits for it, as a body must not. */
async function waitBare(app: Runtime): Promise<unknown> {
  const task = await app.submit(job, 'x');
  return (await task.wait()).output;
}

const refused = { code: 'would_deadlock', message: expect.stringContaining('ctx.call') };

test('bare_wait_in_body_is_named_error: a step', async () => {
  const parent = step({
    name: 'parent',
    execute: async (ctx) => ctx.complete((await waitBare(app)) as string),
  });
  const app = desk({ runnables: [parent, job], work: { slots: 1 } });
  const task = await app.submit(parent, 'x');
  expect(await task.wait()).toMatchObject({ status: 'failed', error: refused });
  // The same of a run that nobody submitted, and by the id of the task.
  const other = step({
    name: 'other',
    execute: async (ctx) => ctx.complete((await app.tasks.wait(task.id)).status),
  });
  expect((await app.run(other)).error).toMatchObject({ ...refused, data: { app: 'desk' } });
  await app.close();
});

test('bare_wait_in_body_is_named_error: a tool and a hook', async () => {
  const errors: unknown[] = [];
  const waitRefused = async (): Promise<undefined> => {
    await waitBare(app).catch((error: unknown) => errors.push(error));
  };
  const look = tool({
    name: 'look',
    description: 'Looks',
    schema: { type: 'object' },
    execute: async () => {
      await waitRefused();
      return 'seen';
    },
  });
  const model = roundModel([{ toolCalls: [{ name: 'look' }] }, { text: 'Done' }]);
  const clerk = agent({ name: 'clerk', model, tools: [look], hooks: { beforeAgent: waitRefused } });
  const app = desk({ runnables: [clerk, job] });
  expect(await app.run(clerk, 'x')).toMatchObject({ status: 'completed', output: 'Done' });
  expect(errors).toEqual([expect.objectContaining(refused), expect.objectContaining(refused)]);
  await app.close();
});

test('code that a body has started, or that hears of it, may wait', async () => {
  const ends: Promise<unknown>[] = [];
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    schema: { type: 'object' },
    approval: true,
    execute: () => 'asked',
  });
  const model = roundModel([{ toolCalls: [{ name: 'ask' }] }, { text: 'Done' }]);
  const clerk = agent({ name: 'clerk', model, tools: [ask] });
  const later = Promise.withResolvers<void>();
  const parent = step({
    name: 'parent',
    execute: async (ctx) => {
      ends.push(later.promise.then(() => waitBare(app)));
      await ctx.call(clerk, { message: 'x' });
      return ctx.complete('done');
    },
  });
  const app = desk({
    runnables: [parent, job, clerk],
    onRequest: () => {
      ends.push(waitBare(app));
    },
  });
  let isHeard = false;
  const { status } = await app.run(parent, {
    input: 'x',
    onStream: () => {
      if (!isHeard) ends.push(waitBare(app));
      isHeard = true;
    },
  });
  expect(status).toBe('yielded');
  later.resolve();
  while (ends.length < 3) await new Promise(setImmediate);
  expect(await Promise.all(ends)).toEqual(['done', 'done', 'done']);
  await app.close();
});

test('a body waits for tasks of other apps, and for runnables by its context', async () => {
  const other = runtime({ app: 'other', store: memoryStore(), runnables: [job] });
  const parent = step({
    name: 'parent',
    execute: async (ctx) => {
      const { output } = await ctx.call(job);
      return ctx.complete([output ?? '', (await waitBare(other)) as string]);
    },
  });
  const app = desk({ runnables: [parent, job], work: { slots: 1 } });
  expect(await app.run(parent, 'x')).toMatchObject({ output: ['done', 'done'] });
  await Promise.all([app.close(), other.close()]);
});
