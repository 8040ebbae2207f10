import { agent, step } from 'adjutant';
import { roundModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { cuttingProxy } from './cutting-proxy.ts';
import { impatient, serving } from './serving.ts';

test('a client submits a task, controls it, and follows it to its end', async () => {
  const gate = Promise.withResolvers<void>();
  const slow = step({
    name: 'slow',
    execute: async (ctx) => {
      await gate.promise;
      return ctx.complete('done');
    },
  });
  const writer = agent({ name: 'writer', model: roundModel([{ text: 'Written.' }]) });
  const { url } = await serving({ runnables: [slow, writer] });
  const { tasks } = impatient(url);
  const made = await tasks.submit({ agent: 'slow', input: 'Go', priority: 'high', key: 'a' });
  expect(made).toMatchObject({ agent: 'slow', priority: 'high', joined: false });
  expect(await tasks.submit({ agent: 'slow', input: 'Go', key: 'a' })).toMatchObject({
    id: made.id,
  });
  const later = await tasks.submit({ agent: 'writer', input: 'Write', delayMs: 60_000 });
  const seen: string[] = [];
  const follow = async (): Promise<void> => {
    for await (const { id, state } of tasks.follow()) {
      seen.push(`${id === made.id ? 'slow' : 'later'} ${state}`);
      if (seen.includes('later suspended')) gate.resolve();
      if (id === made.id && state === 'completed') return;
    }
  };
  const following = follow();
  expect(await tasks.suspend(later.id, { reason: 'No.' })).toMatchObject({ state: 'suspended' });
  expect(await tasks.reprioritize(later.id, 'low')).toMatchObject({ priority: 'low' });
  expect(await tasks.explain(later.id)).toMatchObject({ block: { kind: 'suspended' } });
  await following;
  expect(seen.at(-1)).toBe('slow completed');
  expect(await tasks.wait(made.id)).toMatchObject({ state: 'completed', result: 'done' });
  await tasks.resume(later.id);
  await tasks.moveToFront(later.id);
  expect(await tasks.list()).toMatchObject([{ id: later.id }]);
  await tasks.cancel(later.id);
  expect(await tasks.wait(later.id)).toMatchObject({ state: 'cancelled' });
  expect(await tasks.list({ state: ['cancelled'] })).toHaveLength(1);
  await expect(tasks.get('none')).rejects.toMatchObject({ code: 'task_not_found', status: 404 });
});

test('a task that ends while the connection is lost is told afterwards', async () => {
  const gate = Promise.withResolvers<void>();
  const slow = step({
    name: 'slow',
    execute: async (ctx) => {
      await gate.promise;
      return ctx.complete('done');
    },
  });
  const { app, listening } = await serving({ runnables: [slow] });
  const proxy = await cuttingProxy({ target: () => listening.port, cutAfter: () => undefined });
  let isBack = Promise.resolve();
  const { tasks } = impatient(proxy.url, {
    fetch: async (url, options) => {
      await isBack;
      return fetch(url, options);
    },
  });
  const { id } = await tasks.submit({ agent: 'slow', input: 'Go' });
  const states: string[] = [];
  for await (const task of tasks.follow()) {
    states.push(task.state);
    if (task.state === 'completed') break;
    if (task.state !== 'running') continue;
    const back = Promise.withResolvers<void>();
    isBack = back.promise;
    proxy.cut();
    gate.resolve();
    await app.tasks.wait(id);
    back.resolve();
  }
  expect(states.slice(-2)).toEqual(['running', 'completed']);
});
