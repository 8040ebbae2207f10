import { agent, memoryStore, type RunResult, type Runtime, runtime, step, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

/** An agent with a typed answer that asks once for approval. */
function askingAgent() {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    schema: z.object({}),
    approval: true,
    execute: () => 'paid',
  });
  return agent({
    name: 'clerk',
    model: scriptedModel([
      { toolCalls: [{ name: 'pay' }] },
      { toolCalls: [{ name: 'pay' }] },
      { text: '{"paid":true}' },
    ]),
    tools: [pay],
    output: z.object({ paid: z.boolean() }),
  });
}

async function storedCount(app: Runtime, session: string): Promise<number> {
  let count = 0;
  for await (const _event of app.sessions.events(session)) count++;
  return count;
}

test('a run is resumed with its runnable in a loop, and its result keeps its type', async () => {
  const main = askingAgent();
  const app = runtime({ app: 'shop' });
  let result = await app.run(main, 'Pay');
  let asked = 0;
  while (result.status === 'yielded') {
    for (const { requestId } of result.pendingApprovals) await app.requests.approve(requestId);
    asked++;
    result = await app.resume(main, result.session);
  }
  expect(asked).toBe(2);
  expectTypeOf(result).toEqualTypeOf<RunResult<{ paid: boolean }>>();
  expect(result.output?.paid).toBe(true);
});

test('a run that has ended meanwhile gives its typed result by its name', async () => {
  const main = askingAgent();
  const app = runtime({ app: 'shop' });
  let result = await app.run(main, 'Pay');
  const { runId, session } = result;
  while (result.status === 'yielded') {
    for (const { requestId } of result.pendingApprovals) await app.requests.approve(requestId);
    result = await app.resume(main, session);
  }
  const again = await app.resume(main, session, { runId });
  expect(again).toMatchObject({ status: 'completed', runId, output: { paid: true } });
  await expect(app.resume(main, session)).rejects.toMatchObject({ code: 'no_open_run' });
});

test('resume without a runnable stays, and its output is unknown', async () => {
  const app = runtime({ app: 'shop' });
  const { session } = await app.run(askingAgent(), 'Pay');
  const result = await app.resume(session);
  expect(result.status).toBe('yielded');
  expectTypeOf(result).toEqualTypeOf<RunResult<unknown>>();
});

test('a runnable of another name or kind is refused, and nothing is changed', async () => {
  const app = runtime({ app: 'shop' });
  const main = askingAgent();
  const { session, runId } = await app.run(main, 'Pay');
  const { length } = session.events;
  const other = agent({ name: 'other', model: scriptedModel([]) });
  for (const options of [{}, { runId }]) {
    await expect(app.resume(other, session, options)).rejects.toMatchObject({
      code: 'runnable_mismatch',
      message:
        `Session "${session.id}" has a run of the agent "clerk", and the agent "other" cannot ` +
        'continue it. Resume it with its own runnable, or with the session alone: ' +
        'app.resume(session).',
    });
  }
  expect(await storedCount(app, session.id)).toBe(length);
  expect((await app.resume(main, session)).status).toBe('yielded');
  expect((await app.resume(main, session.id)).pendingApprovals).toHaveLength(1);
});

test('a runnable of the same name and another kind is refused', async () => {
  const store = memoryStore();
  const first = runtime({ app: 'shop', store, recover: 'manual' });
  const { session } = await first.run(askingAgent(), { input: 'Pay', session: 's' });
  const { length } = session.events;
  const second = runtime({ app: 'shop', store, recover: 'manual' });
  const namesake = step({ name: 'clerk', execute: () => undefined });
  await expect(second.resume(namesake, 's')).rejects.toMatchObject({ code: 'runnable_mismatch' });
  expect(await storedCount(second, 's')).toBe(length);
});

test('a process that does not have the runnable registered can resume with it', async () => {
  const store = memoryStore();
  const first = runtime({ app: 'shop', store, recover: 'manual' });
  const { pendingApprovals } = await first.run(askingAgent(), { input: 'Pay', session: 's' });
  await first.requests.approve(pendingApprovals[0]?.requestId ?? '');
  const second = runtime({ app: 'shop', store, recover: 'manual' });
  await expect(second.resume('s')).rejects.toMatchObject({ code: 'unknown_runnable' });
  const result = await second.resume(askingAgent(), 's');
  expect(result.status).toBe('yielded');
});

test('another runnable is refused while this process carries the run out', async () => {
  const app = runtime({ app: 'shop' });
  const gate = Promise.withResolvers<void>();
  const work = step({
    name: 'work',
    execute: async (ctx) => {
      await gate.promise;
      return ctx.complete('done');
    },
  });
  const running = app.run(work, { session: await app.sessions.open({ id: 's' }) });
  await running.accepted();
  const other = step({ name: 'other', execute: () => undefined });
  await expect(app.resume(other, 's')).rejects.toMatchObject({ code: 'runnable_mismatch' });
  const joined = app.resume(work, 's');
  gate.resolve();
  expect((await joined).output).toBe('done');
  expect((await running).status).toBe('completed');
});

test('arguments in the wrong order are refused with the right order', async () => {
  const app = runtime({ app: 'shop' });
  const main = askingAgent();
  const { session } = await app.run(main, 'Pay');
  const resume = app.resume.bind(app) as (...given: unknown[]) => unknown;
  expect(() => resume(session, main)).toThrowError(
    'The run cannot be resumed: the runnable comes before the session: resume(runnable, session).',
  );
  expect(() => resume(main)).toThrowError('a session or the id of one is needed');
});
