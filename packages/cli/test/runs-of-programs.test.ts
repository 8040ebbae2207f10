import { join } from 'node:path';
import { agent, loop, rehearsal, runtime, step, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { type Bench, bench, jsonLines } from './run-cli.ts';

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

describe('questions of the runs of a program', () => {
  /** A session of another app, with a question, whose program is not running. */
  async function officeOf({
    folder,
  }: Bench): Promise<{ store: string; requestId: string; continued: () => Promise<unknown> }> {
    const store = join(folder, 'office.db');
    const ask = tool({
      name: 'ask',
      description: 'Asks',
      schema: z.object({ question: z.string() }),
      yieldSchema: z.object({ colour: z.string() }),
    });
    const painter = agent({
      name: 'painter',
      model: scriptedModel((prompt) =>
        prompt.some(({ role }) => role === 'tool')
          ? { text: 'Painted.' }
          : { toolCalls: [{ name: 'ask', args: { question: 'Which colour?' } }] },
      ),
      tools: [ask],
    });
    const open = () =>
      runtime({ app: 'office', store: sqlite(store), runnables: [painter], recover: 'manual' });
    const office = open();
    const session = await office.sessions.open({ id: 'wall', userId: 'ann' });
    const { pendingCalls } = await office.run(painter, { session, input: 'Paint the wall' });
    await office.close();
    const continued = async () => {
      const later = open();
      const { output, session: ended } = await later.resume('wall');
      await later.close();
      return {
        output,
        given: ended.events.flatMap((event) => (event.type === 'tool_input' ? [event.input] : [])),
      };
    };
    return { store, requestId: pendingCalls[0]?.requestId as string, continued };
  }

  test('are answered here, and go on there', async () => {
    const place = bench();
    const { store, requestId, continued } = await officeOf(place);
    const where = ['--store', store, '--app', 'office'];
    const [listed] = jsonLines(
      (await place.run(['approvals', '--user', 'ann', '--json', ...where])).stdout,
    );
    expect(listed).toMatchObject({
      requestId,
      kind: 'input',
      session: 'wall',
      user: 'ann',
      options: ['answer', 'reject'],
    });
    expect((await place.run(['approvals', '--user', 'bob', ...where])).stdout).toBe(
      'Nothing waits for an answer.\n',
    );
    const { stdout } = await place.run(['show', 'wall', ...where]);
    expect(stdout.slice(stdout.indexOf('? asks')).split('\n').slice(0, 3)).toEqual([
      expect.stringMatching(
        /^\? asks for an answer: ask\(\{"question":"Which colour\?"\}\), until [-\d]+ [:\d]+$/,
      ),
      expect.stringMatching(
        /^ {2}adjutant answer req_\w+ '\{"colour":"…"\}' --store \S+ --app office$/,
      ),
      expect.stringMatching(/^ {2}adjutant reject /),
    ]);
    const answered = await place.run(['answer', requestId, '{"colour":"green"}', ...where]);
    expect(answered).toMatchObject({
      code: 0,
      stdout: 'Answered: ask({"question":"Which colour?"})\n',
    });
    expect(answered.stderr).toContain('The run is not continued here: it is a run of "painter"');
    expect(await continued()).toEqual({ output: 'Painted.', given: [{ colour: 'green' }] });
  });

  test('that wait for a message say so', async () => {
    const { run, folder } = bench();
    const store = join(folder, 'office.db');
    const office = runtime({ app: 'office', store: sqlite(store), recover: 'manual' });
    await office.run(
      loop({ name: 'talk', runnable: agent({ name: 'talker', model: rehearsal() }), yields: true }),
      {
        session: 'desk',
        input: 'What is 1 + 1?',
      },
    );
    await office.close();
    const { stdout } = await run(['show', 'desk', '--store', store, '--app', 'office']);
    expect(stdout).toContain('? waits for a message\n');
    const cancelled = await run(['cancel', 'desk', '--store', store, '--app', 'office']);
    expect(cancelled).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is cancelled as soon as its program continues it'),
    });
  });
});
