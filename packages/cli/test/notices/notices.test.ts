import { join } from 'node:path';
import { apiKeys, serve } from '@adjutant/server';
import { memoryStore, runtime } from 'adjutant';
import { type NoticeHub, noticeHub, notifications, streamChannel } from 'adjutant/notifications';
import { sqlite } from 'adjutant/sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { bench, jsonLines } from '../run-cli.ts';

const folder = join(import.meta.dirname, '../fixtures/triggers');

/** A server whose notices go to open pages, and commands with the keys of its callers. */
async function office() {
  const hub = noticeHub();
  const opened = Promise.withResolvers<void>();
  const watched: NoticeHub = {
    ...hub,
    subscribe: (...args) => {
      opened.resolve();
      return hub.subscribe(...args);
    },
  };
  const app = runtime({
    app: 'desk',
    store: memoryStore(),
    recover: 'manual',
    notifications: notifications({ channels: [streamChannel(hub)], intervalMs: 0 }),
  });
  const listening = await serve(app, {
    ...{ port: 0, auth: {}, notices: watched },
    shutdown: { graceMs: 100 },
  });
  onTestFinished(() => listening.close({ closeApp: true }));
  const place = bench();
  const keyOf = async (user?: string): Promise<string> => {
    const bound = user === undefined ? {} : { user };
    const made = await apiKeys(app).create({ name: 'test', roles: ['operator'], ...bound });
    return made.credential;
  };
  const on = (key: string, ...args: readonly string[]) => [
    ...['notices', ...args, '--server', listening.url],
    ...['--key', key],
  ];
  return { app, keyOf, on, opened: opened.promise, place };
}

test('notices of an app are listed, with what has become of each', async () => {
  const place = bench();
  const store = join(place.folder, 'desk.db');
  const options = { cwd: folder, env: { DESK_STORE: store } };
  const run = (...args: readonly string[]) => place.run(['notices', ...args], options);
  expect(await run('--user', 'ann')).toEqual({
    code: 0,
    stdout: 'There are no notices.\n',
    stderr: '',
  });
  const app = runtime({
    app: 'desk',
    store: sqlite(store),
    recover: 'manual',
    notifications: notifications({ channels: [streamChannel(noticeHub())] }),
  });
  await app.notifications.send({ user: 'ann', title: 'Rain\u001b[31m', id: 'rain' });
  await app.notifications.send({ user: 'bob', title: 'Sun' });
  await app.recovery.resumeStopped();
  await app.close();
  const { code, stdout } = await run('list', '--user', 'ann');
  expect(code).toBe(0);
  const [head, line, ...more] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^AT +STATE +CHANNEL +TITLE +WHY$/);
  expect(line).toMatch(/^20\S+ \S+ +dropped +stream +Rain\S* +failed: /);
  expect(line).not.toContain('\u001b');
  expect(more).toEqual([]);
  expect(jsonLines((await run('list', '--user', 'ann', '--json')).stdout)).toMatchObject([
    { id: 'rain', status: 'dropped', attempts: [{ channel: 'stream', outcome: 'failed' }] },
  ]);
});

test('notices of a server are listed, for their user or for an operator', async () => {
  const { app, keyOf, on, place } = await office();
  for (const id of ['one', 'two', 'three'])
    await app.notifications.send({ user: 'ann', title: id, id });
  await app.recovery.resumeStopped();
  const ann = await keyOf('ann');
  const own = await place.run(on(ann, '--limit', '2', '--json'));
  expect(jsonLines(own.stdout)).toMatchObject([{ id: 'three' }, { id: 'two' }]);
  const operator = await keyOf();
  const others = await place.run(on(operator, 'list', '--user', 'ann', '--limit', '600', '--json'));
  expect(jsonLines(others.stdout)).toHaveLength(3);
  const refused: readonly [string, readonly string[], string][] = [
    [operator, ['list'], 'name one as `user`'],
    [ann, ['list', '--user', 'bob'], 'bound to a user'],
    [operator, ['follow'], 'bound to a user'],
    ['adj_none', ['list'], 'Give a key with --key'],
  ];
  for (const [key, args, words] of refused)
    expect(await place.run(on(key, ...args))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(words),
    });
});

test.each([
  [[], /^20\S+ \S+ Rain\n {2}It rains\.\n {2}Look: https:\/\/desk\.example\/rain\n$/],
  [['--json'], /^\{"user":"ann","title":"Rain",.*"id":"rain",.*\}\n$/],
])('notices are shown as a server sends them %s', async (flags, shown) => {
  const { app, keyOf, on, opened, place } = await office();
  const key = await keyOf('ann');
  const { child, finished } = place.start(on(key, 'follow', ...flags));
  await opened;
  const told = new Promise((resolve) => child.stdout?.once('data', resolve));
  await app.notifications.send({
    ...{ user: 'ann', id: 'rain', title: 'Rain', text: 'It rains.' },
    actions: [{ label: 'Look', url: 'https://desk.example/rain' }],
  });
  await app.recovery.resumeStopped();
  await told;
  child.kill('SIGINT');
  const { code, stderr, stdout } = await finished;
  expect({ code, stderr, stdout }).toEqual({
    ...{ code: 130, stderr: '' },
    stdout: expect.stringMatching(shown),
  });
});

test.each<[string[], Record<string, string>, string]>([
  [['list'], {}, '--user <id>'],
  [['list', '--user', ' '], {}, 'It is empty'],
  [['list', '--user', 'ann', '--limit', '0'], {}, '--limit'],
  [['list', '--user', 'ann'], { DESK_NOTICES: 'none' }, '`notifications: notifications('],
  [['follow'], {}, 'name it with --server'],
])('notices %s is refused', async (args, env, words) => {
  const place = bench();
  const { code, stderr } = await place.run(['notices', ...args], { cwd: folder, env });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
});

test('without an app of their own there are no notices', async () => {
  const { code, stderr } = await bench().run(['notices', '--user', 'ann']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('Notices belong to an app of your own'),
  });
});
