import { join } from 'node:path';
import { agent, loop, rehearsal, runtime, step } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { bench } from './run-cli.ts';

/** Runs of a program of its own, which is not running: one asks, one sleeps, one talks. */
async function programOf() {
  const place = bench();
  const store = join(place.folder, 'shop.db');
  const order = step({
    name: 'order',
    execute: async (ctx) =>
      ctx.complete({ colour: await ctx.ask('colour', { message: 'Which?', schema: z.string() }) }),
  });
  const nap = step({
    name: 'nap',
    execute: async (ctx) => {
      await ctx.sleep('a day', 86_400_000);
      return ctx.complete('awake');
    },
  });
  const talker = agent({ name: 'talker', model: rehearsal() });
  const talk = loop({ name: 'talk', runnable: talker, yields: true });
  const open = () =>
    runtime({
      app: 'shop',
      store: sqlite(store),
      runnables: [order, nap, talk],
      recover: 'manual',
    });
  const app = open();
  const { pendingCalls } = await app.run(order, { session: 'order', input: 'Go' });
  await app.run(nap, { session: 'nap', input: 'Go' });
  await app.run(talk, { session: 'talk', input: 'What is 1 + 1?' });
  await app.close();
  const where = ['--store', store, '--app', 'shop'];
  return {
    on: (...words: string[]) => place.run([...words, ...where]),
    requestId: pendingCalls[0]?.requestId as string,
    reopened: () => {
      const later = open();
      onTestFinished(() => later.close());
      return later;
    },
  };
}

test('a run of a program that has another runnable is not resumed here, and says why', async () => {
  const { on, requestId, reopened } = await programOf();
  const answered = await on('answer', requestId, 'Blue', '--no-continue');
  expect(answered).toMatchObject({ code: 0, stderr: expect.stringContaining('"order"') });
  expect(answered.stderr).not.toContain('adjutant resume');
  const before = (await on('show', 'order', '--events', '--json')).stdout;
  for (const [session, name] of [
    ['order', 'order'],
    ['nap', 'nap'],
    ['talk', 'talk'],
  ] as const) {
    const resumed = await on('resume', session);
    expect(resumed).toMatchObject({ code: 2, stdout: '' });
    expect(resumed.stderr).toContain(
      `The run of session "${session}" is one of "${name}", which this program does not know.`,
    );
    expect(resumed.stderr).toContain('adjutant serve');
  }
  // Nothing was written, and the answer counts where the runnable is.
  expect((await on('show', 'order', '--events', '--json')).stdout).toBe(before);
  expect((await reopened().resume('order')).output).toEqual({ colour: 'Blue' });
});

test('what such a run waits for is shown without commands that this program refuses', async () => {
  const { on, requestId } = await programOf();
  expect((await on('show', 'order')).stdout).toContain(`adjutant answer ${requestId}`);
  await on('answer', requestId, 'Blue', '--no-continue');
  for (const [session, said] of [
    ['order', 'answered; it goes on in the program that has "order"'],
    ['nap', 'from then on it goes on in the program that has "nap"'],
    ['talk', 'the program that has "talk" takes it'],
  ] as const) {
    const { stdout } = await on('show', session);
    expect(stdout).toContain(said);
    expect(stdout).not.toMatch(/adjutant (resume|run) /);
  }
});
