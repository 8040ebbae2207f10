/** Scenarios 1 to 4: what is on the screen when the app starts, and what it asks first. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { appBench } from './kit/app-start.ts';
import { clearedNothing, restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { keys } from './kit/talk.ts';

function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/terminal/${name}`, import.meta.url));
}

test('1 first-paint: the first words come before the configuration, and keys wait for it', async () => {
  const { world, start, ledger } = await appBench();
  const terminal = start({ cwd: fixture('slow') });
  await terminal.shows('adjutant 0.');
  // Nothing is loaded yet.
  terminal.write(`Tell me${keys.enter}`);
  const config = await world.toolCall('loadConfig');
  await terminal.showsNow('stored · sent when the app is loaded');
  await keepPicture(terminal.screen, '1-loading');
  terminal.write('and more');
  world.script({ text: 'Here it is.' });
  config.returns('');
  await terminal.shows('app shop, agent coder (adjutant.config.ts)');
  await terminal.shows('Here it is.');
  await terminal.showsNow('› and more');
  await keepPicture(terminal.screen, '1-start');
  terminal.write(`${keys.ctrl('u')}${keys.ctrl('d')}`);
  expect(await terminal.exited).toBe(0);
  expect(terminal.raw.startsWith('adjutant 0.')).toBe(true);
  expect(terminal.screen.whole.match(/adjutant 0\./g)).toHaveLength(1);
  const users = (await ledger()).filter(({ type }) => type === 'user');
  expect(users).toMatchObject([{ text: 'Tell me' }]);
  clearedNothing(terminal);
  restoredModes(terminal);
});

test.for([
  ['Ctrl-C twice', keys.ctrl('c').repeat(2), 0],
  ['SIGTERM', undefined, 143],
] as const)('1 the app is left while a configuration loads: %s', async ([, typed, code]) => {
  const { world, start } = await appBench();
  const terminal = start({ cwd: fixture('slow') });
  await world.toolCall('loadConfig');
  await terminal.showsNow('loading');
  if (typed === undefined) terminal.kill('SIGTERM');
  else terminal.write(typed);
  expect(await terminal.exited).toBe(code);
  restoredModes(terminal);
});

test('1 a command line that is refused leaves nothing behind', async () => {
  const { start } = await appBench();
  const terminal = start({ args: ['chat', '--session', ''] });
  expect(await terminal.exited).toBe(2);
  expect(terminal.screen.whole).toMatch(/^adjutant: .*--session/);
  restoredModes(terminal);
});

test('2 own-agent-from-config-two-folders-up', async () => {
  const { world, start, ledger } = await appBench();
  const terminal = start({ cwd: fixture('docs/notes') });
  await terminal.shows('app shop, agent coder (adjutant.config.ts) · scripted:world');
  await terminal.shows(/new session …\w{6} · \d+ tools, \d+ ask first/);
  world.script({ text: 'Yes.' });
  terminal.write(`Are you there?${keys.enter}`);
  await terminal.shows('Yes.');
  await terminal.showsNow('/ commands');
  terminal.write(keys.ctrl('d'));
  expect(await terminal.exited).toBe(0);
  const began = (await ledger()).find(({ type }) => type === 'invocation_start');
  expect(began).toMatchObject({ name: 'coder', mode: 'root' });
});
