/** Scenarios of starting, interrupting, leaving and coming back. */
import type { Event } from 'adjutant';
import { expect, test } from 'vitest';
import { clone } from './kit/app-start.ts';
import { restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { keys, talk } from './kit/talk.ts';

function typesOf(events: readonly Event[]): string[] {
  return events.map(({ type }) => type);
}

test('15 fast-typed-line-and-enter-in-one-chunk, 16 alt-enter-ctrl-j-backslash-new-lines', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.script({ text: 'Yes.' });
  for (const [typed, shown] of [
    ['one', 'one'],
    [keys.altEnter, /› one\n *\n/],
    ['two', 'two'],
    [keys.ctrl('j'), / {2}two\n *\n/],
    ['three\\\r', / {2}three\n *\n/],
  ] as const) {
    terminal.write(typed);
    await terminal.showsNow(shown);
  }
  say('four');
  await terminal.shows('Yes.');
  expect(await leave()).toBe(0);
  const user = (await ledger()).find(({ type }) => type === 'user');
  expect(user).toMatchObject({ text: 'one\ntwo\nthree\nfour' });
});

test('11 paste-three-lines-is-one-message, 13 paste-of-a-slash-command-is-text', async () => {
  const { world, terminal, leave, ledger } = await talk();
  world.script({ text: 'First.' }, { text: 'Second.' });
  terminal.paste('a\r\nb\r\nc');
  await terminal.showsNow('c');
  expect(await ledger().catch(() => [])).toEqual([]);
  terminal.write(keys.enter);
  await terminal.shows('First.');
  terminal.paste('/quit');
  await terminal.showsNow('/quit');
  terminal.write(keys.enter);
  await terminal.shows('Second.');
  expect(await leave()).toBe(0);
  const users = (await ledger()).filter(({ type }) => type === 'user');
  expect(users).toMatchObject([{ text: 'a\nb\nc' }, { text: '/quit' }]);
});

test('21 esc-cuts-answer-and-ledger-keeps-the-cut-text', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  say('Tell me');
  const call = await world.modelCall();
  call.says('Half of the tests fail because the clock is');
  await terminal.showsNow('the clock is');
  terminal.write(keys.escape);
  await call.givenUp;
  await terminal.shows('Interrupted by you');
  await keepPicture(terminal.screen, '13-interrupted');
  const events = await ledger();
  expect(events.find(({ type }) => type === 'assistant')).toMatchObject({
    text: 'Half of the tests fail because the clock is',
    cut: true,
  });
  expect(events.at(-1)).toMatchObject({ type: 'invocation_yield', reason: 'pause' });
  world.script({ text: 'a stub.' });
  terminal.write(keys.enter);
  await terminal.shows('a stub.');
  expect(await leave()).toBe(0);
  expect(typesOf(await ledger())).toContain('invocation_resume');
  restoredModes(terminal);
});

test('21 esc with a stored message goes on with it, and the next esc interrupts again', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  say('Tell me');
  const first = await world.modelCall();
  first.says('Half of');
  await terminal.showsNow('Half of');
  say('only the failing ones');
  await terminal.showsNow('stored · read after this round');
  terminal.write(keys.escape);
  await first.givenUp;
  const second = await world.modelCall();
  second.says('Those are');
  await terminal.showsNow('Those are');
  terminal.write(keys.escape);
  await second.givenUp;
  await terminal.shows('Interrupted by you');
  expect(await leave()).toBe(0);
  const events = await ledger();
  const said = events.flatMap((event) => ('text' in event ? [event.text] : []));
  // The message was in the ledger before the answer was cut off.
  expect(said).toEqual(['Tell me', 'only the failing ones', 'Half of', 'Those are']);
  expect(typesOf(events)).not.toContain('cancel');
  expect(events.at(-1)).toMatchObject({ type: 'invocation_yield', reason: 'pause' });
});

test('22 esc-during-tools-lets-them-finish', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.script({ calls: [{ name: 'runTests', args: { path: 'a' } }] });
  say('Run it');
  const call = await world.toolCall('runTests');
  await terminal.showsNow('runTests a');
  terminal.write(keys.escape);
  await terminal.showsNow('Stops after a call');
  call.returns('14 passed');
  await terminal.shows('Interrupted by you');
  expect(await leave()).toBe(0);
  const events = await ledger();
  expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({
    result: { status: 'success', content: '14 passed' },
  });
  expect(events.at(-1)).toMatchObject({ type: 'invocation_yield', reason: 'pause' });
});

test('22 esc-again-cancels: a call that runs is torn off, and the run ends', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.script({ calls: [{ name: 'charge', args: { order: 17 } }] });
  say('Charge it');
  await world.toolCall('charge');
  await terminal.showsNow('charge 17');
  terminal.write(keys.escape);
  await terminal.showsNow('Stops after a call · Esc again cancels');
  await keepPicture(terminal.screen, '13-stopping');
  terminal.write(keys.escape);
  await terminal.shows(/■ Cancelled/);
  await terminal.showsNow('/ commands');
  await keepPicture(terminal.screen, '13-cancelled');
  // The outcome of the call is not known, and that is said.
  expect(terminal.screen.whole).toMatch(/! charge 17 {2}outcome unknown: check before repeating/);
  world.script({ text: 'Here I am.' });
  say('Are you there?');
  await terminal.shows('Here I am.');
  expect(await leave()).toBe(0);
  const events = await ledger();
  expect(typesOf(events)).toContain('cancel');
  expect(events.find(({ type }) => type === 'tool_result')).toMatchObject({
    result: { status: 'unknown' },
  });
  expect(events.find(({ type }) => type === 'invocation_end')).toMatchObject({
    status: 'cancelled',
  });
});

test('24 message-while-working-is-durable-and-in-order', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.script({ calls: [{ name: 'runTests', args: { path: 'a' } }] }, { text: 'Looked.' });
  say('Run it');
  const call = await world.toolCall('runTests');
  say('and look at refunds, too');
  await terminal.showsNow('stored · read after this round');
  await keepPicture(terminal.screen, '3-stored');
  call.returns('ok');
  await terminal.shows('Looked.');
  expect(await leave()).toBe(0);
  const order = (await ledger()).flatMap((event) =>
    event.type === 'user' ? [event.text] : event.type === 'model_start' ? ['model'] : [],
  );
  expect(order).toEqual(['Run it', 'model', 'and look at refunds, too', 'model']);
});

test('25 ctrl-c-twice-prints-a-command-that-works', async () => {
  const config = 'packages/cli/test/fixtures/terminal/adjutant.config.ts';
  const { world, terminal, say, ledger, sessions, start } = await talk({
    line: `npm start -s -- chat --config ${config}`,
    cwd: clone,
  });
  say('Tell me');
  const call = await world.modelCall();
  call.says('One moment');
  await terminal.showsNow('One moment');
  terminal.write(keys.ctrl('c'));
  await terminal.showsNow('Press ^C again to leave');
  terminal.write(keys.ctrl('c'));
  await terminal.exited;
  const [id] = await sessions();
  const [, command = ''] = /Continue with: (.*?)\r?\n/.exec(terminal.raw) ?? [];
  expect(command).toBe(`npm start -s -- chat --session ${id} --config ${config}`);
  const before = (await ledger()).length;
  const again = start({ line: command, cwd: clone });
  await again.shows(/Enter goes on/);
  await keepPicture(again.screen, '14-opened-again');
  world.script({ text: 'Here it is.' });
  again.write(keys.enter);
  await again.shows('Here it is.');
  await again.showsNow('/ commands');
  again.write(keys.ctrl('d'));
  expect(await again.exited).toBe(0);
  expect((await ledger()).length).toBeGreaterThan(before);
});

test('25 ctrl-c while a call runs says how to leave, and nothing else in its place', async () => {
  const { world, terminal, say } = await talk();
  world.script({ calls: [{ name: 'runTests', args: { path: 'a' } }] });
  say('Run it');
  await world.toolCall('runTests');
  await terminal.showsNow('runTests a');
  terminal.write(keys.ctrl('c'));
  await terminal.showsNow('Press ^C again to leave. The run stops here and can go on later.');
  // The store takes this message behind the pause.
  say('Go on then');
  await terminal.showsNow('stored · read after this round');
  expect(terminal.raw).not.toContain('Stops after');
});

test('25 a key between two Ctrl-C is no way out', async () => {
  const { terminal } = await talk();
  terminal.write(keys.ctrl('c'));
  await terminal.showsNow('Press ^C again to leave.');
  terminal.write('draft');
  await terminal.showsNow('› draft');
  terminal.write(keys.ctrl('c'));
  await terminal.showsNow('Press ^C again to leave.');
  await terminal.hides('› draft');
  terminal.write(keys.ctrl('c'));
  expect(await terminal.exited).toBe(0);
  restoredModes(terminal);
});

test('35 unknown-command-never-reaches-the-model', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  say('/modle');
  await terminal.showsNow('There is no /modle. Did you mean /model? Nothing was sent.');
  expect(terminal.screen.text).toContain('› /modle');
  terminal.write(keys.ctrl('u'));
  terminal.write('/');
  await terminal.showsNow('/sessions');
  await keepPicture(terminal.screen, '17-completion');
  terminal.write('cos\t');
  await terminal.showsNow('› /cost');
  terminal.write(keys.enter);
  await terminal.shows('No model has been asked yet.');
  world.script({ text: 'It fails.' });
  say('//bin fails');
  await terminal.shows('It fails.');
  say('/help');
  await terminal.shows('Esc interrupt');
  await keepPicture(terminal.screen, '21-help');
  expect(await leave()).toBe(0);
  const users = (await ledger()).filter(({ type }) => type === 'user');
  expect(users).toMatchObject([{ text: '/bin fails' }]);
});
