import { join } from 'node:path';
import { serve } from '@adjutant/server';
import { runtime, step } from 'adjutant';
import { consoleChannel, notifications } from 'adjutant/notifications';
import { sqlite } from 'adjutant/sqlite';
import { triggers } from 'adjutant/triggers';
import { expect, onTestFinished, test } from 'vitest';
import type { Outcome } from '../in-process.ts';
import { bench, jsonLines } from '../run-cli.ts';

const folder = join(import.meta.dirname, '../fixtures/triggers');
const weekdays = ['--cron', '0 8 * * 1-5', '--zone', 'Europe/Berlin'];

/** The app of the fixture, with a store of this test. */
function desk(env: Record<string, string> = {}) {
  const place = bench();
  const options = { cwd: folder, env: { DESK_STORE: join(place.folder, 'desk.db'), ...env } };
  return {
    run: (...args: readonly string[]): Promise<Outcome> => place.run(args, options),
    start: (...args: readonly string[]) => place.start(args, options),
  };
}

/** The lines of JSON of a command that succeeds. */
async function told(outcome: Promise<Outcome>): Promise<readonly unknown[]> {
  const { code, stdout, stderr } = await outcome;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return jsonLines(stdout);
}

test('triggers are made, listed, shown, changed and have a history', async () => {
  const { run } = desk();
  expect((await run('triggers')).stdout).toContain('There are no such triggers.');
  const facts = ['--input', 'Read the mail', '--notify', 'ann', '--requester', 'ann'];
  const made = await run(
    'triggers',
    'create',
    'morning',
    ...weekdays,
    '--start',
    'writer',
    ...facts,
  );
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toMatch(/^\[active\] morning: 0 8 \* \* 1-5 \(Europe\/Berlin\)\n/);
  expect(made.stdout).toMatch(/ {2}starts +writer\n {2}input +Read the mail\n {2}for +ann\n/);
  const created = ['triggers', 'create', 'mail', '--event', 'mail.*', '--start', 'writer'];
  expect(await told(run(...created, '--overlap', 'queue', '--json'))).toMatchObject([
    { name: 'mail', status: 'active', overlap: 'queue', on: { kind: 'event', pattern: 'mail.*' } },
  ]);
  const listed = (await run('triggers')).stdout.split('\n');
  expect(listed[0]).toMatch(/^TRIGGER +STATUS +NEXT +FIRED +FAILED +STARTS +ON$/);
  const lines = listed.slice(1, -1).join('\n');
  expect(lines).toMatch(/^morning +active +20\S+ \S+ +0 +0 +writer +0 8 \* \* 1-5 \(Europe/m);
  expect(lines).toMatch(/^mail +active +– +0 +0 +writer +event mail\.\*$/m);
  expect(await told(run('triggers', '--requester', 'ann', '--json'))).toMatchObject([
    { name: 'morning', requester: 'ann' },
  ]);
  const changed = await run('triggers', 'update', 'morning', '--every', '15m');
  expect(changed.stdout).toContain('[active] morning: every 15m');
  expect(changed.stdout).toContain('revision 2');
  expect((await run('triggers', 'show', 'morning')).stdout).toContain('notifies ann');
  const history = await run('triggers', 'history', 'morning');
  expect(history.stdout).toMatch(/^AT +DECISION +BY +WHY\n.* declare +operator +The trigger "mo/);
  expect(await told(run('triggers', 'history', 'mail', '--json'))).toMatchObject([
    { decision: 'declare', data: { revision: 1 } },
  ]);
});

test('a trigger fires, is paused, resumed and deleted by commands', async () => {
  const { run, start } = desk();
  await run('triggers', 'create', 'daily', '--every', '1d', '--start', 'writer', '--input', 'Go');
  const fire = () => run('triggers', 'fire', 'daily', '--idempotency-key', 'a');
  expect((await fire()).stdout).toBe('"daily" fires; a worker carries out its task.\n');
  await fire();
  const worker = start('worker', '--json');
  const status = async () => (await told(run('triggers', 'show', 'daily', '--json')))[0];
  const until = async (what: object) => {
    const wanted = expect.objectContaining(what);
    while (!wanted.asymmetricMatch(await status()));
  };
  await until({ fired: 1, last: expect.objectContaining({ status: 'completed' }) });
  const posted = await told(run('triggers', 'pause', 'daily', '--reason', 'Holidays', '--json'));
  expect(posted).toMatchObject([{ type: 'pause', status: 'posted', trigger: { name: 'daily' } }]);
  await until({ status: 'paused' });
  expect((await run('triggers', 'history', 'daily')).stdout).toMatch(/pause +operator +Holidays/);
  expect((await run('triggers', 'resume', 'daily')).stdout).toContain('fires again');
  await until({ status: 'active' });
  expect((await run('triggers', 'disable', 'daily')).stdout).toMatch(
    /^"daily" is disabled(\.| as soon as)/,
  );
  await until({ status: 'disabled' });
  expect((await run('triggers', 'pause', 'daily')).stderr).toContain('it is disabled');
  expect((await run('triggers', 'delete', 'daily')).stdout).toContain('Its history stays.');
  await until({ status: 'deleted', fired: 1 });
  // Declared by code, and so without a command.
  expect(await told(run('triggers', '--json'))).toMatchObject([{ name: 'watch' }]);
  expect(await told(run('triggers', '--status', 'deleted', '--json'))).toMatchObject([
    { name: 'daily' },
  ]);
  worker.child.kill('SIGTERM');
  expect(await worker.finished).toMatchObject({ code: 0 });
});

test('a preview shows instants in the zone and in UTC, before anything is saved', async () => {
  const { run } = desk();
  const { stdout } = await run('triggers', 'preview', ...weekdays);
  const [head, ...lines] = stdout.trimEnd().split('\n');
  expect(head).toMatch(/^Europe\/Berlin +UTC$/);
  expect(lines).toHaveLength(10);
  for (const line of lines)
    expect(line).toMatch(
      /^(?:Mon|Tue|Wed|Thu|Fri) (\S+) 08:00:00 \+0[12]:00 {2}\w{3} \1 0[67]:00:00 \+00:00$/,
    );
  const once = ['--at', '2999-06-01T15:00', '--zone', 'America/New_York', '--json'];
  expect(await told(run('triggers', 'preview', ...once))).toEqual([
    {
      instant: Date.UTC(2999, 5, 1, 19),
      timeZone: 'UTC',
      local: '2999-06-01T19:00:00+00:00',
      utc: '2999-06-01T19:00:00+00:00',
    },
  ]);
  await run('triggers', 'create', 'morning', ...weekdays, '--start', 'writer');
  const saved = await told(run('triggers', 'preview', 'morning', '--count', '2', '--json'));
  expect(saved).toEqual(
    (await told(run('triggers', 'preview', ...weekdays, '--json'))).slice(0, 2),
  );
  expect((await run('triggers', 'preview', 'watch')).stderr).toContain('"watch" has no schedule');
});

test('the same commands work on the triggers of a server', async () => {
  const place = bench();
  const writer = step({ name: 'writer', execute: async (ctx) => ctx.complete('Written') });
  const app = runtime({
    app: 'desk',
    store: sqlite(join(place.folder, 'served.db')),
    runnables: [writer],
    recover: 'manual',
    triggers: triggers(),
    notifications: notifications({ channels: [consoleChannel()] }),
  });
  const listening = await serve(app, { port: 0, shutdown: { graceMs: 100 } });
  onTestFinished(() => listening.close({ closeApp: true }));
  const run = (...args: string[]) =>
    place.run(['triggers', ...args, '--server', listening.url], { cwd: place.folder });
  const work = () => app.recovery.resumeStopped();
  const facts = [
    '--start',
    'writer',
    '--requester',
    'ann',
    '--notify',
    'ann',
    '--overlap',
    'queue',
  ];
  expect(await told(run('create', 'morning', ...weekdays, ...facts, '--json'))).toMatchObject([
    { name: 'morning', requester: 'ann', notify: { user: 'ann' }, overlap: 'queue' },
  ]);
  await run('create', 'mail', '--event', 'mail.*', '--start', 'writer');
  expect(await told(run('list', '--json'))).toHaveLength(2);
  expect(await told(run('--requester', 'ann', '--json'))).toMatchObject([{ name: 'morning' }]);
  expect((await run('update', 'morning', '--every', '15m')).stdout).toContain('every 15m');
  expect((await run('show', 'morning')).stdout).toContain('revision 2');
  expect((await run('preview', ...weekdays)).stdout).toMatch(/^Europe\/Berlin +UTC\n(?:.+\n){10}$/);
  expect(await told(run('preview', 'morning', '--json'))).toHaveLength(10);
  const paused = await run('pause', 'morning', '--reason', 'Holidays');
  expect(paused).toMatchObject({ code: 0, stdout: '"morning" is paused.\n' });
  expect((await run('history', 'morning')).stdout).toMatch(/ pause .* Holidays\n/);
  expect((await run('resume', 'morning')).code).toBe(0);
  expect((await run('disable', 'morning')).stdout).toBe('"morning" is disabled.\n');
  for (let times = 0; times < 2; times++)
    expect((await run('fire', 'mail', '--idempotency-key', 'a')).code).toBe(0);
  await work();
  expect(await told(run('show', 'mail', '--json'))).toMatchObject([{ fired: 1 }]);
  expect((await run('delete', 'mail', '--reason', 'No')).stderr).toContain('Leave it out');
  expect((await run('delete', 'mail')).code).toBe(0);
  await work();
  expect(await told(run('--status', 'disabled', '--status', 'deleted', '--json'))).toMatchObject([
    { name: 'morning', status: 'disabled' },
    { name: 'mail', status: 'deleted' },
  ]);
  for (const args of [
    ['show', 'none'],
    ['fire', 'none'],
    ['preview', 'none'],
  ])
    expect(await run(...args)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no trigger "?none/),
    });
  const unknown = await run('create', 'new', '--every', '1h', '--start', 'wroter');
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('wroter') });
});

const create = ['triggers', 'create', 'new', '--start', 'writer'];

test.each<[string[], string]>([
  [create, 'Say when it fires: --cron'],
  [[...create, '--cron', '0 8 * * *', '--zone', 'Berlin'], 'did you mean "Europe/Berlin"?'],
  [[...create, '--cron', '0 8 30 2 *'], 'never fires'],
  [[...create, '--cron', '@daily', '--every', '1h'], 'cannot be used with'],
  [[...create, '--every', '15'], 'The trigger cannot be set up: '],
  [[...create, '--every', '1h', '--zone', 'UTC'], '--zone is for --cron and --at'],
  [[...create, '--at', '2027-06-01T15:00'], 'names no zone'],
  [[...create, '--at', '2001-06-01T15:00Z'], 'that is over'],
  [[...create, '--event', 'mail..x'], 'a type such as'],
  [[...create, '--event', 'mail.*', '--missed', 'all'], 'are for schedules'],
  [[...create, '--every', '1h', '--overlap', 'wait'], 'Allowed choices'],
  [[...create, '--every', '1h', '--priority', 'urgent'], 'Allowed choices'],
  [['triggers', 'create', 'known', '--every', '1h', '--start', 'writer'], 'it is active'],
  [['triggers', 'create', 'new', '--every', '1h', '--start', 'wroter'], 'did you mean writer?'],
  [['triggers', 'create', 'new', '--every', '1h'], '--start'],
  [['triggers', 'update', 'known'], 'Nothing is to be changed'],
  [['triggers', 'update', 'known', '--start', 'nobody'], '--start nobody'],
  [['triggers', 'update', 'watch', '--every', '1h'], 'change it where it is declared'],
  [['triggers', 'resume', 'known'], 'it is active'],
  [['triggers', 'show', 'none'], 'has no trigger "none"; it has: known'],
  [['triggers', 'pause', 'none'], 'has no trigger "none"'],
  [['triggers', 'fire', 'none'], 'has no trigger "none"'],
  [['triggers', 'history', 'none'], 'has no trigger "none"'],
  [['triggers', 'preview', 'none'], 'has no trigger "none"'],
  [['triggers', 'preview'], 'Name a trigger, or a schedule'],
  [['triggers', 'preview', 'known', '--every', '1h'], 'not both'],
  [['triggers', 'preview', '--cron', '* * *'], 'The trigger cannot be set up: '],
  [['triggers', '--status', 'resting'], 'Allowed choices'],
])('%s is refused', async (args, words) => {
  const { run } = desk();
  await run('triggers', 'create', 'known', '--every', '1d', '--start', 'writer');
  const { code, stderr } = await run(...args);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
});

test('an app without triggers, in memory, or none at all is refused with advice', async () => {
  const { run } = desk({ DESK_TRIGGERS: 'none' });
  expect(await run('triggers')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('`triggers: triggers([…])`'),
  });
  const place = bench();
  const inMemory = await place.run([...create, '--every', '1h'], { cwd: folder });
  expect(inMemory.stderr).toContain('keeps everything in memory: the trigger would be gone');
  expect((await place.run(['triggers'])).stderr).toContain('Triggers belong to an app of your own');
});
