/** The terminal app, opened by `cli()` in a program of a user. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { appBench } from './kit/app-start.ts';
import { restoredModes } from './kit/byte-checks.ts';
import { keys } from './kit/talk.ts';

const program = fileURLToPath(new URL('../fixtures/library/program.ts', import.meta.url));
const start = `exec node ${program}`;

function outcomeIn(text: string): Record<string, unknown> {
  const line = /\{"session".*?\}/s.exec(text.replaceAll('\n', ''))?.[0];
  return JSON.parse(line ?? '{}') as Record<string, unknown>;
}

test('a program opens the app with a first message, and has the outcome at its end', async () => {
  const bench = await appBench();
  const { world } = bench;
  const terminal = bench.start({ line: `${start} "Why does it fail?"` });
  await terminal.shows(/agent coder · scripted:world/);
  const call = await world.modelCall();
  call.says('I look.');
  call.ends();
  await terminal.shows('I look.');
  await terminal.showsNow('/ commands');
  world.script({ text: 'And at refunds.' });
  terminal.write(`Go on${keys.enter}`);
  await terminal.shows('And at refunds.');
  await terminal.showsNow('/ commands');
  terminal.write(`/status${keys.enter}`);
  await terminal.shows(/session {2}session_/);
  terminal.write(keys.ctrl('d'));
  expect(await terminal.exited).toBe(0);
  const { whole } = terminal.screen;
  expect(outcomeIn(whole)).toMatchObject({
    status: 'completed',
    output: 'And at refunds.',
    exitCode: 0,
  });
  expect(whole).not.toContain('Continue with');
  expect(whole).not.toContain('adjutant chat');
  restoredModes(terminal);
});

test('a session of an app of the program goes on, and a stopped run has no result', async () => {
  const bench = await appBench();
  const { world } = bench;
  const env = { STORE: `${bench.folder}/shop.db`, SESSION: 'talk' };
  const first = bench.start({ line: `${start} "Why does it fail?"`, env });
  const call = await world.modelCall();
  call.says('I look');
  await first.showsNow('I look');
  first.write(keys.ctrl('c'));
  await first.showsNow('Press ^C again to leave.');
  first.write(keys.ctrl('c'));
  await first.exited;
  expect(outcomeIn(first.screen.whole)).toMatchObject({ session: 'talk' });
  expect((await bench.ledger('talk')).map(({ type }) => type)).toContain('user');

  const second = bench.start({ line: start, env });
  await second.shows('Why does it fail?');
  await second.showsNow(/Enter goes on$/m);
  world.script({ text: 'It was the rounding.' });
  second.write(keys.enter);
  await second.shows('It was the rounding.');
  await second.showsNow('/ commands');
  second.write(keys.ctrl('d'));
  expect(await second.exited).toBe(0);
  expect(outcomeIn(second.screen.whole)).toMatchObject({ session: 'talk', status: 'completed' });
});

test('a program talks line by line where it wants to', async () => {
  const bench = await appBench();
  const terminal = bench.start({ line: start, env: { PLAIN: 'yes' } });
  await terminal.shows('/exit or Ctrl-D ends');
  bench.world.script({ text: 'Yes.' });
  terminal.write('Is it so?\r');
  await terminal.shows('Yes.');
  await terminal.shows(/^> $/m);
  terminal.write('/exit\r');
  expect(await terminal.exited).toBe(0);
  expect(terminal.screen.whole).not.toContain('To go on later');
  expect(outcomeIn(terminal.screen.whole)).toMatchObject({ status: 'completed', exitCode: 0 });
});
