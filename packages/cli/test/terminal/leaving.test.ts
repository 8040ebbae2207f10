/** Scenarios of the ends of the app: signals, a terminal that is gone, faults. */
import { mkdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { appBench, appWords } from './kit/app-start.ts';
import { restoredModes } from './kit/byte-checks.ts';
import type { PseudoTerminal } from './kit/pseudo-terminal.ts';
import { keys, talk } from './kit/talk.ts';

test.for([
  ['SIGHUP', 129],
  ['SIGTERM', 143],
] as const)('27 sighup-frees-the-lease: %s', async ([signal, code]) => {
  const { world, terminal, say, ledger, claim } = await talk();
  say('Tell me');
  const call = await world.modelCall();
  call.says('One moment');
  await terminal.showsNow('One moment');
  await expect(claim()).rejects.toMatchObject({ code: 'session_busy' });
  terminal.kill(signal);
  expect(await terminal.exited).toBe(code);
  await call.givenUp;
  restoredModes(terminal);
  expect(terminal.screen.whole).toContain('Its run is stopped, not ended.');
  // No other process waits for the end of the lease.
  await claim();
  const types = (await ledger()).map(({ type }) => type);
  expect(types).not.toContain('invocation_end');
});

test('27 a terminal that is closed ends the app and frees the lease', async () => {
  const { world, terminal, say, claim } = await talk();
  say('Tell me');
  const call = await world.modelCall();
  call.says('One moment');
  await terminal.showsNow('One moment');
  terminal.hangUp();
  expect(await terminal.exited).toBe(129);
  await call.givenUp;
  await claim();
});

test('27 a terminal that is gone without a signal ends the app, too', async () => {
  const bench = await appBench();
  const ends = join(bench.folder, 'ends');
  mkdirSync(ends);
  const terminal = bench.start({
    // Outside of the session of its terminal no signal reaches the program.
    line: `setsid -w sh -c '${appWords}; echo $? > "${ends}/code"'`,
  });
  await terminal.shows('new session');
  terminal.write(`Tell me${keys.enter}`);
  const call = await bench.world.modelCall();
  call.says('One moment');
  await terminal.showsNow('One moment');
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(ends, (event) => event === 'change' && resolve());
  terminal.hangUp();
  await promise;
  watcher.close();
  expect(readFileSync(join(ends, 'code'), 'utf8')).toBe('129\n');
  await bench.claim();
});

const thrower = fileURLToPath(new URL('../fixtures/terminal/throw-on-signal.mjs', import.meta.url));

test.for<readonly [string, (terminal: PseudoTerminal) => void, number]>([
  ['/quit', (terminal) => terminal.write(`/quit${keys.enter}`), 0],
  ['Ctrl-C twice', (terminal) => terminal.write(keys.ctrl('c').repeat(2)), 0],
  ['Ctrl-D', (terminal) => terminal.write(keys.ctrl('d')), 0],
  ['SIGTERM', (terminal) => terminal.killAll('SIGTERM'), 143],
  ['SIGHUP', (terminal) => terminal.killAll('SIGHUP'), 129],
  ['an error that nobody catches', (terminal) => terminal.killAll('SIGUSR2'), 1],
])('40 restored-terminal-modes-after-every-exit: %s', async ([, end, code]) => {
  const { start } = await appBench();
  const terminal = start({
    line: `trap : TERM HUP USR2; ${appWords}; echo "code $?"; stty -a`,
    env: { NODE_OPTIONS: `--import="${thrower}"` },
  });
  await terminal.shows('/ commands');
  end(terminal);
  await terminal.exited;
  expect(terminal.screen.whole).toContain(`code ${code}`);
  expect(terminal.screen.whole).toMatch(/ icanon .* echo /s);
  restoredModes(terminal);
});

test('40 a second signal ends the app at once, and restores the modes of the terminal', async () => {
  const { world, terminal, say } = await talk();
  say('Tell me');
  await world.modelCall();
  await terminal.showsNow('Esc interrupts');
  terminal.kill('SIGTERM');
  terminal.kill('SIGINT');
  expect([130, 143]).toContain(await terminal.exited);
  restoredModes(terminal);
});
