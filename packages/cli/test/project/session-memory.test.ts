import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startChatServer } from '../chat-server.ts';
import { bench, jsonLines } from '../run-cli.ts';

describe('a session of the agent of the command line', () => {
  test('remembers its model: it goes on with it, from wherever', async () => {
    const place = bench();
    const model = await startChatServer((request) =>
      request.messages.some(({ role }) => role === 'tool')
        ? { text: 'The server says 144.' }
        : { call: { name: 'calculate', args: { expression: '12 * 12' } } },
    );
    const asked = await place.run([
      ...['--ask-before', 'calculate', '--session', 'sum', '--model', model.modelName],
      'What is 12 * 12?',
    ]);
    expect(asked.code).toBe(3);
    const [{ requestId }] = jsonLines((await place.run(['approvals', '--json'])).stdout) as [
      { requestId: string },
    ];
    const approved = await place.run(['approve', requestId]);
    expect(approved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The server says 144.') as string,
      stderr: '',
    });
    const more = await place.run(['run', 'Again', '--session', 'sum']);
    expect(more.stderr).toBe('');
  });

  test('remembers the folder that its tools see', async () => {
    const place = bench();
    const root = join(place.folder, 'data');
    mkdirSync(root);
    await place.run(['--root', root, '--session', 'files', 'What is 2 + 2?']);
    const events = jsonLines((await place.run(['show', 'files', '--events', '--json'])).stdout);
    expect(events.find(({ type }) => type === 'state_change')).toMatchObject({
      changes: [{ key: 'commandLine', newValue: { root } }],
    });
    await place.run(['run', 'What is 3 + 3?', '--session', 'files']);
    const later = jsonLines((await place.run(['show', 'files', '--events', '--json'])).stdout);
    expect(later.filter(({ type }) => type === 'state_change')).toHaveLength(1);
  });
});

test('the rehearsal model never goes on after another one, and nothing is written', async () => {
  const place = bench();
  const model = await startChatServer(() => ({ text: 'Hello.' }));
  const cwd = join(import.meta.dirname, '../fixtures/news');
  const store = join(place.folder, 'news.db');
  const on = (name: string, ...args: string[]) =>
    place.run(args, { cwd, env: { NEWS_STORE: store, NEWS_MODEL: name } });
  await on(model.modelName, 'run', 'Hi', '--session', 'talk');
  const events = async () => (await on('rehearsal', 'show', 'talk', '--events', '--json')).stdout;
  const before = await events();
  const refused = await on('rehearsal', 'run', 'More', '--session', 'talk');
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain(
    'Session "talk" was answered by openai-compatible:accountant, and now the rehearsal model ' +
      'would answer. Nothing has been done.',
  );
  expect(await events()).toBe(before);
  expect((await on(model.modelName, 'run', 'More', '--session', 'talk')).code).toBe(0);
});

describe('a session is named', () => {
  test('by the ending of its id, by "last", and shown by its ending', async () => {
    const { run } = bench();
    await run(['What is 6 * 7?']);
    await run(['--session', 'homework', 'What is 2 + 2?']);
    const ids = jsonLines((await run(['sessions', '--json'])).stdout).map(({ id }) => String(id));
    const [named, generated = ''] = ids;
    expect(named).toBe('homework');
    const ending = generated.slice(-6);
    expect((await run(['sessions'])).stdout).toMatch(new RegExp(`^…${ending} `, 'm'));
    for (const name of [ending, `…${ending}`, generated.slice(-4)])
      expect((await run(['show', name])).stdout).toContain(`${generated} · completed`);
    expect((await run(['show', 'last'])).stdout).toContain('homework · completed');
    expect((await run(['run', 'What is 10% of that?', '--session', ending])).stdout).toContain(
      '10% of 42 is 4.2',
    );
    expect((await run(['explain', 'last'])).stdout).toContain(generated);
    // A new name is no ending of another name.
    await run(['run', 'What is 1 + 1?', '--session', 'work']);
    expect(jsonLines((await run(['sessions', '--json'])).stdout)).toHaveLength(3);
    expect((await run(['delete', 'last'])).stdout).toContain('Session work is deleted.');
  });

  test.for<[string, string]>([
    ['ork', 'There is no session "ork"'],
    ['work', 'The ids of 2 sessions end with "work": '],
    ['nothing', 'There is no session "nothing"'],
  ])('%j is refused', async ([name, message]) => {
    const { run } = bench();
    for (const id of ['homework', 'artwork']) await run(['--session', id, 'What is 2 + 2?']);
    const { code, stdout, stderr } = await run(['show', name]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

test('sessions are those of the project; --all lists the others, too', async () => {
  const { run, folder } = bench();
  const [shop, desk] = ['shop', 'desk'].map((name) => join(folder, name)) as [string, string];
  for (const cwd of [shop, desk]) {
    mkdirSync(join(cwd, '.git'), { recursive: true });
    mkdirSync(join(cwd, 'src'));
    await run(['--session', cwd === shop ? 'at-shop' : 'at-desk', 'What is 2 + 2?'], { cwd });
  }
  const listed = async (cwd: string, ...flags: string[]) =>
    jsonLines((await run(['sessions', '--json', ...flags], { cwd })).stdout).map(({ id }) => id);
  expect(await listed(shop)).toEqual(['at-shop']);
  expect(await listed(join(shop, 'src'))).toEqual(['at-shop']);
  expect(await listed(shop, '--all')).toEqual(['at-desk', 'at-shop']);
  const other = join(folder, 'other');
  mkdirSync(join(other, '.git'), { recursive: true });
  const none = `None of the newest 2,000 sessions is of the project ${other}.`;
  const advice = 'adjutant sessions --all lists those of other folders.';
  expect((await run(['sessions'], { cwd: other })).stdout).toBe(`${none} ${advice}\n`);
  expect(await run(['show'], { cwd: other })).toMatchObject({
    code: 2,
    stderr: `adjutant: ${none} ${advice}\n`,
  });
  expect(await listed(folder)).toEqual([]);
  expect((await run(['show'], { cwd: shop })).stdout).toContain('at-shop · completed');
  // By its name a session is found from everywhere.
  expect((await run(['show', 'at-desk'], { cwd: shop })).stdout).toContain('at-desk · completed');
});
