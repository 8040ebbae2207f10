/** Scenarios 1 to 4: what is on the screen when the app starts, and what it asks first. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startChatServer } from '../chat-server.ts';
import { type AppBench, appBench } from './kit/app-start.ts';
import { clearedNothing, restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import type { PseudoTerminal } from './kit/pseudo-terminal.ts';
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
  await terminal.showsNow('/ commands');
  await keepPicture(terminal.screen, '1-start');
  terminal.write(`${keys.ctrl('u')}${keys.ctrl('d')}`);
  expect(await terminal.exited).toBe(0);
  const [before = ''] = terminal.raw.split('adjutant 0.', 1);
  // Only modes of the terminal stand before the first words.
  expect(before.replaceAll('\u001B', '').replaceAll(/\[[?\d;]*[a-z]/g, '')).toBe('');
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

test('3 several-agents-asks-once', async () => {
  const { world, start, ledger } = await appBench();
  const cwd = fixture('team');
  const terminal = start({ cwd });
  await terminal.shows('Which agent is to answer?');
  await terminal.shows('2  writer    Writes');
  await keepPicture(terminal.screen, '3-agents');
  terminal.write(keys.down);
  await terminal.showsNow('› 2  writer');
  terminal.write(keys.enter);
  await terminal.shows('app shop, agent writer (adjutant.config.ts)');
  world.script({ text: 'Once upon a time.' });
  terminal.write(`Write${keys.enter}`);
  await terminal.shows('Once upon a time.');
  await terminal.showsNow('/ commands');
  terminal.write(keys.ctrl('d'));
  expect(await terminal.exited).toBe(0);
  // The session knows its agent.
  const again = start({ cwd, args: ['chat', '--session', 'last'] });
  await again.shows(/session ….* "Write"/);
  expect(again.screen.whole).not.toContain('Which agent');
  world.script({ text: 'There was a king.' });
  again.write(`Go on${keys.enter}`);
  await again.shows('There was a king.');
  await again.showsNow('/ commands');
  again.write(keys.ctrl('d'));
  expect(await again.exited).toBe(0);
  const starts = (await ledger()).filter(({ type }) => type === 'invocation_start');
  expect(starts).toMatchObject([{ name: 'writer' }, { name: 'writer' }]);
});

test('3 leaving the question leaves the app', async () => {
  const { start } = await appBench();
  const terminal = start({ cwd: fixture('team') });
  await terminal.shows('Which agent is to answer?');
  terminal.write(keys.escape);
  expect(await terminal.exited).toBe(0);
  restoredModes(terminal);
});

/** Starts the app where no model is set up. Nobody answers for a local server but a test's own. */
function startFirst(
  { start, folder }: AppBench,
  env: Readonly<Record<string, string>> = { OLLAMA_HOST: '127.0.0.1:9' },
  args: readonly string[] = [],
): PseudoTerminal {
  const store = ['--app', 'shop', '--store', join(folder, 'shop.db')];
  return start({ cwd: folder, env, args: ['chat', ...store, ...args] });
}

test('4 first-run-without-key-reads-env-again', async () => {
  const bench = await appBench();
  const terminal = startFirst(bench);
  await terminal.shows('No model is set up. How shall the agent think?');
  await terminal.showsNow('› 1  Use a provider');
  expect(terminal.screen.text).toContain('none answers at 127.0.0.1:9');
  await keepPicture(terminal.screen, '2-first-run');
  terminal.write(keys.enter);
  await terminal.shows('Write the line OPENAI_API_KEY=… into .env, then press Enter.');
  await terminal.showsNow('› 1  Use a provider');
  writeFileSync(join(bench.folder, '.env'), 'OPENAI_API_KEY=sk-not-a-key\n');
  terminal.write(keys.enter);
  await terminal.shows(/built-in agent assistant · openai:/);
  await terminal.shows('new session');
  terminal.write(keys.ctrl('d'));
  expect(await terminal.exited).toBe(0);
  expect(terminal.raw).not.toContain('sk-not-a-key');
  expect(await bench.sessions()).toEqual([]);
  restoredModes(terminal);
});

test('4 a local server is found, and one of its models answers', async () => {
  const bench = await appBench();
  const server = await startChatServer(() => ({ text: 'I am local.' }));
  const [, address = ''] = /@http:\/\/(.*)\/v1$/.exec(server.modelName) ?? [];
  const terminal = startFirst(bench, { OLLAMA_HOST: address });
  await terminal.shows('ollama answers here: accountant, qwen3');
  terminal.write(`${keys.down}${keys.enter}`);
  await terminal.shows('Which of its models?');
  terminal.write(keys.enter);
  await terminal.shows('openai-compatible:accountant');
  terminal.write(`Who are you?${keys.enter}`);
  await terminal.shows('I am local.');
  await terminal.showsNow('/ commands');
  terminal.write(keys.ctrl('d'));
  expect(await terminal.exited).toBe(0);
  const events = await bench.ledger();
  expect(events.find(({ type }) => type === 'model_start')).toMatchObject({
    model: 'openai-compatible:accountant',
  });
});

test('4 a rehearsal needs nothing, and its session is not asked about again', async () => {
  const bench = await appBench();
  const terminal = startFirst(bench);
  await terminal.shows('No model is set up.');
  terminal.write(`3${keys.enter}`);
  await terminal.shows('rehearsal:rules');
  terminal.write(`What is 12 * 12?${keys.enter}`);
  await terminal.shows('12 * 12 = 144.');
  await terminal.showsNow('/ commands');
  terminal.write(keys.ctrl('d'));
  expect(await terminal.exited).toBe(0);
  expect((await bench.ledger()).at(-1)).toMatchObject({ type: 'invocation_end' });
  const again = startFirst(bench, undefined, ['--session', 'last']);
  await again.shows('12 * 12 = 144.');
  expect(again.screen.whole).not.toContain('No model is set up.');
});

test('4 a project is made outside of the app, by a command that is printed', async () => {
  const terminal = startFirst(await appBench());
  await terminal.shows('No model is set up.');
  terminal.write(`4${keys.enter}`);
  expect(await terminal.exited).toBe(0);
  expect(terminal.screen.whole).toMatch(/Make a project with: .*init my-agent/);
});
