/** Scenarios of what outlives the app: its history, its drafts and its runs. */
import { mkdirSync, readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { agent, runtime } from 'adjutant';
import { systemClock } from 'adjutant/ports';
import { sqlite } from 'adjutant/sqlite';
import { scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { appBench, appWords } from './kit/app-start.ts';
import { restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { keys, talk } from './kit/talk.ts';

test('18 history-across-starts-and-ctrl-r', async () => {
  const { folder, world, terminal, say, leave, start } = await talk();
  world.script({ text: 'First.' }, { text: 'Second.' });
  say('fix the rounding');
  await terminal.shows('First.');
  await terminal.showsNow('/ commands');
  say(' a secret');
  await terminal.shows('Second.');
  await terminal.showsNow('/ commands');
  say('/cost');
  await terminal.shows(/rounds? · 2/);
  expect(await leave()).toBe(0);
  const histories = join(folder, 'data', 'history');
  const [file = ''] = readdirSync(histories);
  expect(readFileSync(join(histories, file), 'utf8')).toBe('"fix the rounding"\n"/cost"\n');
  expect(statSync(join(histories, file)).mode & 0o777).toBe(0o600);

  const again = start();
  await again.shows('new session');
  again.write(keys.up);
  await again.showsNow('› /cost');
  again.write(keys.up);
  await again.showsNow('› fix the rounding');
  again.write(`${keys.ctrl('u')}half a th`);
  await again.showsNow('› half a th');
  again.write(keys.ctrl('r'));
  await again.showsNow('^R older');
  again.write('fix');
  await again.showsNow('history  fix');
  await keepPicture(again.screen, '18-search');
  again.write(keys.escape);
  await again.hides('^R older');
  expect(again.screen.text).toContain('› half a th');
  again.write(keys.ctrl('r'));
  await again.showsNow('^R older');
  again.write('rou');
  await again.showsNow('history  rou');
  again.write(keys.enter);
  await again.hides('^R older');
  await again.showsNow('› fix the rounding');
  world.script({ text: 'Third.' });
  again.write(keys.enter);
  await again.shows('Third.');
});

test('a draft comes back in its session, and in the next new one', async () => {
  const { world, terminal, say, start, sessions } = await talk();
  world.script({ text: 'Yes.' });
  say('Go on');
  await terminal.shows('Yes.');
  await terminal.showsNow('/ commands');
  terminal.write('an unfinished thought');
  await terminal.showsNow('› an unfinished thought');
  // The first one clears the text; leaving keeps it nevertheless.
  terminal.write(keys.ctrl('c').repeat(2));
  expect(await terminal.exited).toBe(0);
  const [id = ''] = await sessions();

  const fresh = start();
  await fresh.shows('new session');
  fresh.write('a plan');
  await fresh.showsNow('› a plan');
  fresh.kill('SIGTERM');
  expect(await fresh.exited).toBe(143);
  const next = start();
  await next.showsNow('› a plan');
  await next.showsNow('Your draft is back. ^C clears it.');
  next.write(keys.ctrl('u'));
  await next.hides('› a plan');
  next.write(`/resume ${id.slice(-6)}${keys.enter}`);
  await next.showsNow('› an unfinished thought');
  world.script({ text: 'I see.' });
  next.write(keys.enter);
  await next.shows('I see.');
  // While the agent works, Ctrl-D would interrupt it first.
  await next.showsNow('/ commands');
  next.write(keys.ctrl('d'));
  expect(await next.exited).toBe(0);

  const last = start({ args: ['chat', '--session', id] });
  await last.shows('I see.');
  expect(last.screen.text).not.toContain('Your draft is back');
});

test('a draft outlives that the app is killed', async () => {
  const { folder, terminal, start } = await talk();
  terminal.write('a plan');
  await terminal.showsNow('› a plan');
  await isWritten(join(folder, 'data', 'drafts'));
  terminal.kill('SIGKILL');
  await terminal.exited;
  const next = start();
  await next.showsNow('› a plan');
  await next.showsNow('Your draft is back.');
});

/** Waits until a file stands in a folder. */
async function isWritten(folder: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  mkdirSync(folder, { recursive: true });
  const look = (): void => {
    if (readdirSync(folder).some((name) => name.endsWith('.json'))) resolve();
  };
  const watcher = watch(folder, look);
  look();
  await promise;
  watcher.close();
}

test('26 sigkill-reopen-shows-last-turns-and-goes-on', async () => {
  const { world, terminal, say, start, ledger } = await talk();
  for (const turn of ['One', 'Two', 'Three', 'Four']) {
    world.script({ text: `Answer ${turn}.` });
    say(`Question ${turn}`);
    await terminal.shows(`Answer ${turn}.`);
    await terminal.showsNow('/ commands');
  }
  say('Question Five');
  const call = await world.modelCall();
  call.says('Half of');
  await terminal.showsNow('Half of');
  terminal.kill('SIGKILL');
  expect(await terminal.exited).toBe(137);
  const before = await ledger();

  const again = start({ args: ['chat', '--session', 'last'] });
  await again.shows(/■ Cut off in a model call: the process ended \(#\d+\)\. {2}Enter goes on/);
  const { whole } = again.screen;
  expect(whole).toContain('2 earlier turns: /show all');
  expect(whole).not.toContain('Question Two');
  expect(whole).toMatch(/› Question Three\n\n? {2}Answer Three\.\n.*› Question Five\n/s);
  expect(whole).toMatch(/session ….* "Question One" · \d+ events/);
  // Nobody works: nothing looks as if it moved.
  expect(again.screen.text).not.toContain('thinking');
  await keepPicture(again.screen, '14-killed');
  world.script({ text: 'Here is the whole of it.' });
  again.write(keys.enter);
  await again.shows('Here is the whole of it.');
  await again.showsNow('/ commands');
  again.write(keys.ctrl('d'));
  expect(await again.exited).toBe(0);
  const after = await ledger();
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.slice(before.length)).toContainEqual(
    expect.objectContaining({ type: 'model_end', status: 'interrupted' }),
  );
  expect(after.at(-1)).toMatchObject({ type: 'invocation_end', status: 'completed' });
  expect(after.filter(({ type }) => type === 'user')).toHaveLength(5);
});

/** Line for a shell with job control: the app is one of its jobs, and `Enter` brings it back. */
const asJob = `set -m; ${appWords}; stty -a; echo is stopped; read answer; fg; echo code $?`;

test('20 ctrl-z-and-back: the shell has the terminal, and the draft is there again', async () => {
  const { start } = await appBench();
  const terminal = start({ line: asJob });
  await terminal.showsNow('/ commands');
  terminal.write('a plan');
  await terminal.showsNow('› a plan');
  terminal.write(keys.ctrl('z'));
  await terminal.shows('is stopped');
  restoredModes(terminal);
  expect(terminal.screen.whole).toMatch(/ icanon .* echo /s);
  expect(terminal.screen.text).not.toContain('› a plan');
  terminal.write(keys.enter);
  await terminal.showsNow('› a plan');
  await keepPicture(terminal.screen, '20-back');
  expect(terminal.screen.whole.match(/new session/g)).toHaveLength(1);
  terminal.write(`${keys.ctrl('u')}/status${keys.enter}`);
  await terminal.shows(/session_/);
  terminal.write(keys.ctrl('d'));
  await terminal.exited;
  expect(terminal.screen.whole).toContain('code 0');
  restoredModes(terminal);
});

test('20 ctrl-z-and-back-after-the-lease-was-lost', async () => {
  const { world, start, folder, sessions, ledger } = await appBench();
  const terminal = start({ line: asJob });
  await terminal.showsNow('/ commands');
  world.script({ calls: [{ name: 'readFile', args: { path: 'a' } }] });
  terminal.write(`Tell me${keys.enter}`);
  await world.toolCall('readFile');
  await terminal.showsNow('readFile a');
  terminal.write(keys.ctrl('z'));
  await terminal.shows('is stopped');
  const [id = ''] = await sessions();
  const ended = await goOnElsewhere(join(folder, 'shop.db'), id);
  expect(ended).toMatchObject({ status: 'completed' });
  terminal.write(keys.enter);
  await terminal.shows('· Another process goes on with this run; shown from here.');
  await terminal.shows('Done elsewhere.');
  await terminal.showsNow('/ commands');
  await keepPicture(terminal.screen, '20-follows');
  const before = await ledger();
  expect(before.at(-1)).toMatchObject({ type: 'invocation_end', status: 'completed' });
  // The session is free again: the next message is answered here.
  world.script({ text: 'Done here.' });
  terminal.write(`And now?${keys.enter}`);
  await terminal.shows('Done here.');
  await terminal.showsNow('/ commands');
  terminal.write(keys.ctrl('d'));
  await terminal.exited;
  expect((await ledger()).slice(0, before.length)).toEqual(before);
  expect(terminal.screen.whole.match(/Done elsewhere/g)).toHaveLength(1);
});

/** Goes on with a run an hour later, when the lease of the process that had it is over. */
async function goOnElsewhere(file: string, id: string): Promise<object> {
  const clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
  const coder = agent({ name: 'coder', model: scriptedModel([{ text: 'Done elsewhere.' }]) });
  const app = runtime({
    ...{ app: 'shop', store: sqlite(file, { clock }), runnables: [coder], ports: { clock } },
    recover: 'manual',
  });
  try {
    return await app.resume(id);
  } finally {
    await app.close();
  }
}
