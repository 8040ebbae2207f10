import { join } from 'node:path';
import { apiKeys, serve } from '@adjutant/server';
import { memoryStore, runtime } from 'adjutant';
import { action, event, trigger, triggers } from 'adjutant/triggers';
import { expect, onTestFinished, test } from 'vitest';
import { bench, jsonLines } from '../run-cli.ts';

const folder = join(import.meta.dirname, '../fixtures/triggers');

/** The app of the fixture, with a store of this test. */
function desk() {
  const place = bench();
  const options = { cwd: folder, env: { DESK_STORE: join(place.folder, 'desk.db') } };
  return {
    run: (args: readonly string[], input = '') => place.run(args, { ...options, input }),
    start: (...args: readonly string[]) => place.start(args, options),
  };
}

test('a published event fires a trigger once a worker hands it on, once for an id', async () => {
  const { run, start } = desk();
  await run(['triggers', 'create', 'mail', '--event', 'mail.*', '--start', 'writer']);
  const publish = ['publish', 'mail.received', '{"from":"ann"}', '--id', 'mail-17'];
  expect(await run(publish)).toEqual({
    code: 0,
    stdout:
      '"mail.received" is published as mail-17. Triggers on it fire as soon as a worker hands ' +
      'it on.\n',
    stderr: '',
  });
  expect(jsonLines((await run([...publish, '--json'])).stdout)).toEqual([
    { type: 'publish', status: 'posted', event: 'mail.received', id: 'mail-17' },
  ]);
  const worker = start('worker', '--json');
  const history = async () =>
    jsonLines((await run(['triggers', 'history', 'mail', '--json'])).stdout);
  while (!(await history()).some(({ decision }) => decision === 'end'));
  worker.child.kill('SIGTERM');
  await worker.finished;
  const fired = (await history()).filter(({ decision }) => decision === 'fire');
  expect(fired).toHaveLength(1);
});

test('an event is published on a server, with data from standard input', async () => {
  const seen: unknown[] = [];
  const note = action({
    name: 'note',
    execute: ({ about }) => {
      seen.push(about?.['source'], about?.['data']);
    },
  });
  const app = runtime({
    app: 'desk',
    store: memoryStore(),
    recover: 'manual',
    triggers: triggers([trigger({ name: 'on-mail', on: event('mail.*'), start: note })]),
  });
  const listening = await serve(app, { port: 0, auth: {}, shutdown: { graceMs: 100 } });
  onTestFinished(() => listening.close({ closeApp: true }));
  await app.recovery.resumeStopped();
  const place = bench();
  const keyOf = async (bound: object) =>
    (await apiKeys(app).create({ name: 'test', roles: ['operator'], ...bound })).credential;
  const publish = async (bound: object, ...args: string[]) =>
    place.run(['publish', ...args, '--server', listening.url, '--key', await keyOf(bound)], {
      input: '{"from":"ann"}',
    });
  expect(await publish({}, 'mail.received', '-', '--source', 'imap')).toMatchObject({ code: 0 });
  for (let looks = 0; looks < 3; looks++)
    for (const run of await app.recovery.resumeStopped()) await run.settled();
  expect(seen).toEqual(['imap', { from: 'ann' }]);
  for (const [bound, type, words] of [
    [{ user: 'ann' }, 'mail.received', 'whole tenant'],
    [{ roles: ['viewer'] }, 'mail.received', 'operate'],
    [{}, 'mail..received', "such as 'mail.received'"],
  ] as const)
    expect(await publish(bound, type)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(words),
    });
});

test.each<[string[], string]>([
  [['publish'], 'type'],
  [['publish', ' '], 'It is empty'],
  [['publish', 'mail..received'], "such as 'mail.received'"],
  [['publish', 'mail.*'], "such as 'mail.received'"],
  [['publish', 'mail.received', '{from: ann}'], 'What was given is not JSON'],
  [['publish', 'mail.received', '-'], 'What was given is not JSON'],
  [['publish', 'mail.received', JSON.stringify('x'.repeat(70_000))], '65'],
  [['publish', 'mail.received', 'null', '--id', ''], 'It is empty'],
])('%s is refused', async (args, words) => {
  const { code, stderr } = await desk().run(args, 'no JSON');
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
});

test('an app in memory, or none at all, is refused with advice', async () => {
  const place = bench();
  const inMemory = await place.run(['publish', 'mail.received'], { cwd: folder });
  expect(inMemory).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the event would be gone with this command'),
  });
  expect(await place.run(['publish', 'mail.received'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Events belong to an app of your own'),
  });
});
