import { join } from 'node:path';
import { agent, runtime, tool } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { bench, jsonLines } from './run-cli.ts';

describe('fork', () => {
  test(
    'makes a session that goes on from the middle of a run, without doing again ' + 'what was done',
    async () => {
      const { run } = bench();
      await run(['--session', 'first', 'What is 12 * 12?']);
      const events = jsonLines((await run(['show', 'first', '--events', '--json'])).stdout);
      const at = events.find(({ type }) => type === 'tool_result')?.['seq'] as number;
      const forked = await run(['fork', 'first', '--at', String(at), '--id', 'second']);
      expect(forked).toMatchObject({
        code: 0,
        stderr: '',
        stdout:
          `Session second has the first ${at} events of first. Go on with: adjutant resume ` +
          `second\n`,
      });
      const resumed = await run(['resume', 'second']);
      expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('12 * 12 = 144.') });
      const own = jsonLines((await run(['show', 'second', '--events', '--json'])).stdout);
      expect(own.slice(0, at)).toEqual(events.slice(0, at));
      expect(own.filter(({ type }) => type === 'tool_attempt')).toHaveLength(1);
      expect(jsonLines((await run(['show', 'first', '--events', '--json'])).stdout)).toEqual(
        events,
      );
    },
  );

  test('begins with edits of the state, the instructions and the message', async () => {
    const { run } = bench();
    await run(['--session', 'first', 'What is 12 * 12?']);
    const events = jsonLines((await run(['show', 'first', '--events', '--json'])).stdout);
    const at = (events.find(({ type }) => type === 'model_start')?.['seq'] as number) - 1;
    const edits = [
      ...['--set', 'mood=good', '--set', 'session:limits={"cents":5}', '--unset', 'nothing'],
      ...['--instructions', 'You calculate.', '--message', 'What is 6 * 7?'],
    ];
    const forked = await run(['fork', 'first', '--at', String(at), '--id', 'second', ...edits]);
    expect(forked).toMatchObject({ code: 0, stderr: '' });
    expect((await run(['resume', 'second'])).stdout).toContain('6 * 7 = 42.');
    const [state] = jsonLines((await run(['state', 'second', '--json'])).stdout);
    expect(state).toMatchObject({ sessionState: { mood: 'good', limits: { cents: 5 } } });
    const prompt = (await run(['show', 'second', '--prompt', '1'])).stdout;
    expect(prompt).toContain('You calculate.');
    expect(prompt).toContain('What is 6 * 7?');
    expect(prompt).not.toContain('What is 12 * 12?');
    const told = (await run(['explain', 'second'])).stdout;
    expect(told).toContain('The state of the fork was edited: mood, limits.');
  });

  test('of a run that waits is continued by resume, which asks anew', async () => {
    const { run } = bench();
    await run(['--session', 'first', '--ask-before', 'calculate', 'What is 12 * 12?']);
    const events = jsonLines((await run(['show', 'first', '--events', '--json'])).stdout);
    const at = events.findIndex(({ type }) => type === 'invocation_yield') + 1;
    const forked = await run(['fork', 'first', '--at', String(at), '--id', 'second']);
    expect(forked.stdout).toContain('Go on with: adjutant resume second\n');
    expect(await run(['resume', 'second'])).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('asks for approval'),
    });
    expect(
      jsonLines((await run(['approvals', '--json'])).stdout).map(({ session }) => session),
    ).toEqual(['first', 'second']);
  });

  test('at the end of a run is another conversation with the same beginning', async () => {
    const { run } = bench();
    await run(['--session', 'first', 'What is 6 * 7?']);
    const [{ seq }] = jsonLines((await run(['sessions', '--json'])).stdout) as [{ seq: number }];
    const [fork] = jsonLines(
      (await run(['fork', 'first', '--at', String(seq), '--json'])).stdout,
    ) as [{ session: string }];
    expect(fork).toMatchObject({ type: 'fork', from: 'first', at: seq });
    const { stdout } = await run(['--session', fork.session, 'What is 10% of that?']);
    expect(stdout).toContain('10% of 42 is 4.2.');
  });

  test('asks what was pending anew, under another id', async () => {
    const { run } = bench();
    await run(['--session', 'first', '--ask-before', 'calculate', 'What is 12 * 12?']);
    const [asked] = jsonLines((await run(['approvals', '--json'])).stdout) as [
      { requestId: string; session: string },
    ];
    const [{ seq }] = jsonLines((await run(['sessions', '--json'])).stdout) as [{ seq: number }];
    await run(['fork', 'first', '--at', String(seq), '--id', 'second']);
    expect((await run(['resume', 'second'])).code).toBe(3);
    const requests = jsonLines((await run(['approvals', '--json'])).stdout) as {
      requestId: string;
      session: string;
    }[];
    expect(requests.map(({ session }) => session)).toEqual(['first', 'second']);
    expect(new Set(requests.map(({ requestId }) => requestId)).size).toBe(2);
    expect((await run(['reject', requests[1]?.requestId as string])).code).toBe(0);
    expect(await run(['approve', asked.requestId])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('12 * 12 = 144.'),
    });
  });

  test.for<[string[], string]>([
    [['fork', 'first'], "required option '--at <seq>' not specified"],
    [['fork', 'first', '--at', 'end'], 'It must be a whole number.'],
    [['fork', 'first', '--at', '999'], 'There is no seq 999 here'],
    [['fork', 'first', '--at', '2', '--set', 'mood'], 'it must be a key and a value'],
    [['fork', 'first', '--at', '2', '--set', 'mood={"a"'], 'JSON'],
    [['fork', 'first', '--at', '2', '--set', 'team:a=1'], 'takes no part in the scope "team"'],
    [['fork', 'first', '--at', '2', '--agent', 'assistant'], 'give them'],
    [['fork', 'nobody-knows-it', '--at', '1'], 'There is no session "nobody-knows-it"'],
    [['fork', 'first', '--at', '2', '--id', 'first'], 'A session "first" exists already.'],
    [['cancel', 'nobody-knows-it'], 'There is no session "nobody-knows-it"'],
    [['cancel', 'first'], 'Session "first" has no run to cancel.'],
    [['delete', 'nobody-knows-it'], 'There is no session "nobody-knows-it"'],
    [
      ['sessions', '--status', 'asleep'],
      'Allowed choices are active, awaiting_input, sleeping, completed, error.',
    ],
  ])('%j is refused', async ([args, message]) => {
    const { run } = bench();
    await run(['--session', 'first', 'What is 6 * 7?']);
    const { code, stderr, stdout } = await run(args);
    expect({ code, stderr, stdout }).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
    expect(jsonLines((await run(['sessions', '--json'])).stdout)).toHaveLength(1);
  });
});

test('sessions are listed by state, user and runnable, and deleted', async () => {
  const { run, folder } = bench();
  const store = join(folder, 'office.db');
  const where = ['--store', store, '--app', 'office'];
  const office = runtime({ app: 'office', store: sqlite(store), recover: 'manual' });
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    schema: z.object({}),
    yieldSchema: z.object({}),
  });
  const clerk = agent({ name: 'clerk', model: scriptedModel([{ text: 'Good morning' }]) });
  const asker = agent({
    name: 'asker',
    model: scriptedModel([{ toolCalls: [{ name: 'ask', args: {} }] }]),
    tools: [ask],
  });
  await office.run(clerk, {
    session: await office.sessions.open({ id: 'monday', userId: 'ann' }),
    input: 'Hello',
  });
  await office.run(asker, { session: 'tuesday', input: 'Ask me' });
  await office.sessions.fork('monday', { id: 'monday-again' });
  await office.close();
  const listed = async (...options: string[]) =>
    jsonLines((await run(['sessions', '--json', ...options, ...where])).stdout).map(({ id }) => id);
  expect(await listed('--status', 'awaiting_input')).toEqual(['tuesday']);
  expect(await listed('--runnable', 'asker')).toEqual(['tuesday']);
  expect(await listed('--user', 'ann')).toContain('monday');
  expect(await listed('--user', 'bob')).toEqual([]);
  expect(await listed('--text', 'HELLO morning')).toEqual(['monday-again', 'monday']);
  expect(await listed('--text', '"ask me"')).toEqual(['tuesday']);
  expect(await listed('--text', 'nothing')).toEqual([]);
  expect((await run(['sessions', '--user', 'bob', ...where])).stdout).toBe(
    'There are no such sessions.\n',
  );

  expect(await run(['delete', 'tuesday', ...where])).toMatchObject({
    code: 0,
    stdout: 'Session tuesday is deleted.\n',
  });
  expect((await run(['approvals', ...where])).stdout).toBe('Nothing waits for an answer.\n');
  expect(await run(['delete', 'monday', '--with-forks', ...where])).toMatchObject({
    code: 0,
    stdout: 'Session monday is deleted, with its forks.\n',
  });
  expect(await listed()).toEqual([]);
});

test('show writes nothing, also when shared state has changed since', async () => {
  const { run, folder } = bench();
  const store = join(folder, 'office.db');
  const where = ['--store', store, '--app', 'office'];
  const office = runtime({ app: 'office', store: sqlite(store), recover: 'manual' });
  const clerk = agent({ name: 'clerk', model: scriptedModel([{ text: 'Good morning' }]) });
  const session = await office.sessions.open({ id: 'monday', userId: 'ann' });
  await office.run(clerk, { session, input: 'Hello' });
  const other = await office.sessions.open({ id: 'tuesday', userId: 'ann' });
  (other.state as unknown as { user: Record<string, string> }).user['theme'] = 'dark';
  await other.flush();
  await office.close();
  const listed = async () => jsonLines((await run(['sessions', '--json', ...where])).stdout);
  const before = await listed();
  for (const view of [
    ['show', 'monday'],
    ['show', 'monday', '--events'],
    ['show', 'monday', '--tree'],
  ])
    expect((await run([...view, ...where])).code).toBe(0);
  expect(await listed()).toEqual(before);
});
