import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { agent, runtime, step, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { roundModel } from 'adjutant/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { bench, jsonLines } from './run-cli.ts';

const waiting = 3;

/** A session with a report in the lane `background`, which waits, on a server and in its store. */
async function office() {
  const place = bench();
  const store = join(place.folder, 'office.db');
  const publish = tool({
    name: 'publish',
    description: 'Publishes',
    schema: z.object({}),
    approval: true,
    execute: () => 'published',
  });
  const report = agent({
    name: 'report',
    model: roundModel([{ toolCalls: [{ name: 'publish', args: {} }] }, { text: 'It is out.' }]),
    tools: [publish],
  });
  const chat = agent({ name: 'chat', model: roundModel([{ text: 'Hello.' }]) });
  const nap = step({
    name: 'nap',
    execute: async (ctx) => {
      await ctx.sleep('a day', 86_400_000);
      return ctx.complete('awake');
    },
  });
  const app = runtime({ app: 'office', store: sqlite(store), runnables: [chat, report, nap] });
  const { url, close } = await serve(app, { port: 0, shutdown: { graceMs: 100 } });
  onTestFinished(async () => {
    await close();
    await app.close();
  });
  const on = (...words: string[]) => place.run([...words, '--server', url]);
  const asked = await on(
    ...['run', 'Report', '--agent', 'report', '--session', 's', '--lane', 'background'],
  );
  const local = (...words: string[]) => place.run([...words, '--store', store, '--app', 'office']);
  return { asked, on, local, app, nap, url };
}

describe('with --server', () => {
  test('a run in a lane waits while the default lane goes on, and is resumed there', async () => {
    const { asked, on, url } = await office();
    expect(asked).toMatchObject({ code: waiting, stderr: '' });
    expect(asked.stdout).toMatch(/^\? asks for approval: .* · lane background$/m);
    const said = await on('run', 'Hi', '--agent', 'chat', '--session', 's');
    expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining('Hello.') });
    expect(await on('resume', 's')).toMatchObject({ code: 2, stdout: '' });
    const resumed = await on('resume', 's', '--lane', 'background');
    expect(resumed.code).toBe(waiting);
    const request = /adjutant approve (\S+) --server/.exec(resumed.stdout)?.[1] as string;
    expect(resumed.stdout).toContain(`adjutant approve ${request} --server ${url}`);
    expect(await on('approve', request)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('It is out.'),
    });
  });

  test('cancel ends the run of the lane that it names, and no other', async () => {
    const { on } = await office();
    await on('run', 'Hi', '--agent', 'chat', '--session', 's');
    expect(await on('cancel', 's')).toMatchObject({
      code: 2,
      stderr: 'adjutant: Session "s" has no run to cancel.\n',
    });
    const cancelled = 'The run of session "s" in the lane "background" is cancelled.\n';
    expect(await on('cancel', 's', '--lane', 'background')).toMatchObject({
      code: 0,
      stdout: cancelled,
    });
    expect(await on('cancel', 's', '--lane', 'background')).toMatchObject({
      code: 2,
      stderr: 'adjutant: Session "s" has no run to cancel in the lane "background".\n',
    });
    expect(await on('reopen', 's', '--reason', 'Go', '--lane', 'background')).toMatchObject({
      code: 0,
      stdout: 'The run of session "s" in the lane "background" is open again.\n',
    });
  });
});

test('show tells what each lane waits for, and names the lane of a run', async () => {
  const { on, local, app, nap } = await office();
  await app.run(nap, { session: 's', input: 'Sleep' });
  await app.run(nap, { session: 's', input: 'Sleep', lane: 'night' });
  const here = await local('show', 's');
  expect(here.stdout).toMatch(/^\? asks for approval: .* · lane background$/m);
  expect(here.stdout).toMatch(/^◷ sleeps until [-\d]+ [:\d]+$/m);
  expect(here.stdout).toMatch(/^◷ sleeps until [-\d]+ [:\d]+ · lane night$/m);
  expect(here.stdout).toContain('goes on in the program that has "nap"');
  const there = await on('show', 's');
  expect(there.stdout).toMatch(/from then on: adjutant resume s --lane night --server/);
  expect(there.stdout).toMatch(/from then on: adjutant resume s --server/);
  for (const { stdout } of [await local('show', 's', '--tree'), await on('show', 's', '--tree')]) {
    expect(stdout).toMatch(/report agent yielded · lane background \(/);
    expect(stdout).toMatch(/nap step yielded \(/);
    expect(stdout).toMatch(/nap step yielded · lane night \(/);
  }
});

describe('in the store of this machine', () => {
  /** A run of the agent of the command line in the lane `b`, which waits for an approval. */
  async function asking() {
    const { run } = bench();
    const words = ['What is 12 * 12?', '--session', 's', '--ask-before', 'calculate'];
    const asked = await run(['run', ...words, '--lane', 'b', '--json']);
    const { pendingCalls } = jsonLines(asked.stdout).at(-1) as {
      pendingCalls: { requestId: string }[];
    };
    return { run, code: asked.code, request: pendingCalls[0]?.requestId as string };
  }

  test('a run in a lane waits while the default lane goes on, and is approved there', async () => {
    const { run, code, request } = await asking();
    expect(code).toBe(waiting);
    const other = await run(['run', 'What is 2 * 3?', '--session', 's', '--ask-before', 'none']);
    expect(other).toMatchObject({ code: 0, stdout: expect.stringContaining('2 * 3 = 6.') });
    expect(other.stdout).not.toContain('12 * 12');
    const shown = (await run(['show', 's'])).stdout;
    expect(shown).toMatch(/^\? asks for approval: calculate.* · lane b$/m);
    expect(await run(['resume', 's'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Session "s" has no run to continue. To go on'),
    });
    expect(await run(['resume', 's', '--lane', 'c'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /has no run to continue in the lane "c"\. .* run '…' --session s --lane c\n/u,
      ),
    });
    expect((await run(['resume', 's', '--lane', 'b'])).code).toBe(waiting);
    expect(await run(['approve', request])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('12 * 12 = 144.'),
    });
  });

  test('an answer that is only left names the lane to resume', async () => {
    const { run, request } = await asking();
    const left = await run(['approve', request, '--no-continue']);
    expect(left.stderr).toContain('adjutant resume s --lane b');
    expect((await run(['show', 's'])).stdout).toContain(
      'answered; it goes on with: adjutant resume s --lane b',
    );
    const resumed = await run(['resume', 's', '--lane', 'b']);
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('12 * 12 = 144.') });
  });

  test('a chat answers what its own lane waits for', async () => {
    const { run } = await asking();
    const elsewhere = await run(['chat', '--session', 's'], { input: '/approve\n' });
    expect(elsewhere.stderr).toContain('Nothing waits for that.');
    const there = await run(['chat', '--session', 's', '--lane', 'b'], { input: '/approve\n' });
    expect(there).toMatchObject({ code: 0, stdout: expect.stringContaining('12 * 12 = 144.') });
  });

  test('cancel ends the run of the lane that it names', async () => {
    const { run } = await asking();
    expect(await run(['cancel', 's'])).toMatchObject({
      code: 2,
      stderr: 'adjutant: Session "s" has no run to cancel.\n',
    });
    expect(await run(['cancel', 's', '--lane', 'b'])).toMatchObject({
      code: 0,
      stdout: 'The run of session "s" in the lane "b" is cancelled.\n',
    });
  });

  test('a fork names the lane that goes on', async () => {
    const { run } = await asking();
    const events = jsonLines((await run(['show', 's', '--events', '--json'])).stdout);
    const at = String(events.findIndex(({ type }) => type === 'invocation_yield') + 1);
    const forked = await run(['fork', 's', '--at', at, '--id', 'other']);
    expect(forked.stdout).toContain('Go on with: adjutant resume other --lane b\n');
  });
});

describe('the name of a lane is refused as in code', () => {
  test.each<[string, string]>([
    ['', 'must be a name of 1 to 64 letters, digits, _ and -'],
    ['x'.repeat(65), 'must be a name of 1 to 64 letters, digits, _ and -'],
    ['a/b', 'must be a name of 1 to 64 letters, digits, _ and -'],
    ['default', 'must be a name other than "default" (the default lane has none'],
  ])('%j', async (lane, why) => {
    const { run } = bench();
    for (const words of [
      ['run', 'Hi'],
      ['chat'],
      ['resume', 's'],
      ['cancel', 's'],
      ['reopen', 's', '--reason', 'x'],
    ])
      for (const door of [[], ['--server', 'http://127.0.0.1:1']]) {
        if (words[0] === 'chat' && door.length > 0) continue;
        const { code, stdout, stderr } = await run([...words, '--lane', lane, ...door]);
        expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: '' });
        expect(stderr.toLowerCase()).toContain(why.toLowerCase());
      }
  });
});
