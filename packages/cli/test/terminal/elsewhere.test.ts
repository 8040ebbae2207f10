/** Scenario 40: terminals that show less, and readers of screens. */
import type { EventOf } from 'adjutant';
import { expect, test } from 'vitest';
import { appBench } from './kit/app-start.ts';
import { keptLastColumnFree, restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { keys, takesKeys, talk } from './kit/talk.ts';

const introducer = '\u001B';
const edit = { path: 'src/money.ts', oldText: 'Math.round', newText: 'Math.floor' };

test('40 screen-reader: nothing is painted again, and requests are numbered questions', async () => {
  const { world, start, ledger } = await appBench();
  const terminal = start({ args: ['chat', '--screen-reader'] });
  await terminal.shows('Type a message, or /help.');
  world.result('editFile', 'done');
  world.script(
    { calls: [{ name: 'readFile', args: { path: 'a' } }] },
    { calls: [{ name: 'editFile', args: edit }] },
    { calls: [{ name: 'sendMail', args: { to: 'anna@example.org', subject: 'Hi' } }] },
    { text: ['All ', 'done.\n\n', '- one\n- two'] },
  );
  world.result('readFile', 'text');
  terminal.write('Change it\r');
  await terminal.shows('Done: readFile a, ');
  await terminal.shows(/Question #\d+: coder wants to call editFile src\/money\.ts\n/);
  await terminal.shows('1: allow');
  await terminal.shows('Type a number, or a message to the agent.');
  await keepPicture(terminal.screen, '40-screen-reader');
  terminal.write('1\r');
  await terminal.shows('Question #');
  await terminal.shows('to: anna@example.org');
  terminal.write('2\r');
  await terminal.shows('Why? An empty line gives no reason.');
  terminal.write('not on Sunday\r');
  await terminal.shows('• two');
  terminal.write('/status\r');
  await terminal.shows(/session_/);
  terminal.write('/quit\r');
  expect(await terminal.exited).toBe(0);
  const { raw } = terminal;
  expect(raw).not.toContain(introducer);
  expect(raw).not.toMatch(/[›✓✗■↻⠋]/);
  expect(raw.match(/All done\./g)).toHaveLength(1);
  const inputs = (await ledger()).filter(({ type }) => type === 'tool_input');
  expect(inputs).toMatchObject([
    { decision: 'approve' },
    { decision: 'reject', reason: 'not on Sunday' },
  ]);
});

test('40 screen-reader: forms are asked field by field, and lists by number', async () => {
  const { world, start, ledger } = await appBench();
  const terminal = start({ env: { INK_SCREEN_READER: 'true' } });
  await terminal.shows('Type a message, or /help.');
  world.script({ calls: [{ name: 'book', args: { flight: 'LH1' } }] }, { text: 'Booked.' });
  terminal.write('Book it\r');
  await terminal.shows('1: answer');
  terminal.write('1\r');
  await terminal.shows('Name (required)');
  terminal.write('Ada\r');
  await terminal.shows('Born (date, YYYY-MM-DD; required)');
  terminal.write('soon\r');
  await terminal.shows('2: aisle');
  terminal.write('2\r');
  await terminal.shows('Luggage (an empty line leaves it out), numbers with commas between them');
  terminal.write('1, 2\r');
  await terminal.shows('Insured');
  terminal.write('1\r');
  await terminal.shows('Bags');
  terminal.write('2\r');
  await terminal.shows('Comment');
  terminal.write('\r');
  // Only the field with a fault is asked again.
  await terminal.shows('Attention: must be a date');
  terminal.write('1815-12-10\r');
  await terminal.shows('Booked.');
  terminal.write('/sessions\r');
  await terminal.shows(/1: .*Book it/);
  terminal.write('\r/quit\r');
  expect(await terminal.exited).toBe(0);
  const input = (await ledger()).find(({ type }) => type === 'tool_input');
  expect((input as EventOf<'tool_input'>).input).toEqual({
    name: 'Ada',
    born: '1815-12-10',
    seat: 'aisle',
    luggage: ['cabin', 'hold'],
    insured: true,
    bags: 2,
  });
});

test('40 screen-reader: an empty line interrupts the work, and goes on with it', async () => {
  const { world, start, ledger } = await appBench();
  const terminal = start({ args: ['chat', '--screen-reader'] });
  await terminal.shows('Type a message, or /help.');
  terminal.write('Tell me\r');
  const call = await world.modelCall();
  call.says('Half of the tests.\n\nThe\n');
  await terminal.shows('Half of the tests.');
  terminal.write('\r');
  await terminal.shows('Stopped: Interrupted by you');
  world.script({ text: 'other half.' });
  terminal.write('\r');
  await terminal.shows('other half.');
  terminal.write(keys.ctrl('d'));
  expect(await terminal.exited).toBe(0);
  const types = (await ledger()).map(({ type }) => type);
  expect(types).toContain('invocation_resume');
  expect(types.at(-1)).toBe('invocation_end');
});

test.for([
  ['NO_COLOR', { env: { NO_COLOR: '1' } }],
  ['--color never', { args: ['chat', '--color', 'never'] }],
] as const)('40 no-color: %s', async ([, options]) => {
  const { world, terminal, say, leave } = await talk(options);
  world.script({ calls: [{ name: 'editFile', args: edit }] });
  say('Edit');
  await takesKeys(terminal);
  await keepPicture(terminal.screen, '40-no-color');
  terminal.write('n\r');
  world.script({ text: 'As you **wish**.' });
  await terminal.shows('As you wish.');
  expect(await leave()).toBe(0);
  const { allLines, cells } = terminal.screen;
  const shown = allLines.flatMap((_, line) => cells(line));
  expect(shown.filter(({ colour }) => colour !== undefined)).toEqual([]);
  expect(shown.some(({ bold }) => bold)).toBe(true);
});

test.for([
  ['--ascii', { args: ['chat', '--ascii'] }],
  ['a locale without UTF-8', { env: { LANG: 'C' } }],
  ['TERM=linux', { env: { TERM: 'linux' } }],
] as const)('40 ascii: %s', async ([, options]) => {
  const { world, terminal, say, leave } = await talk(options);
  world.script({ calls: [{ name: 'editFile', args: edit }] });
  say('Edit');
  await takesKeys(terminal);
  terminal.write('y');
  world.result('editFile', 'done');
  world.script({ text: 'It is done.' });
  await terminal.shows('It is done.');
  expect(await leave()).toBe(0);
  expect(terminal.screen.whole).toMatch(/\+ editFile/);
  expect(terminal.screen.whole).toMatch(/^[\n -~]*$/);
});

test('40 a terminal of 20 columns', async () => {
  const { world, terminal, say, ledger } = await talk({ size: { columns: 20, rows: 24 } });
  say('Hi');
  const call = await world.modelCall();
  call.says('A word and another word and one more.');
  await terminal.showsNow('one more');
  call.ends();
  await terminal.until('the rest of the agent', ({ lines }) => {
    const status = lines.findLast((line) => line !== '') ?? '';
    return status.startsWith('  coder');
  });
  await keepPicture(terminal.screen, '40-narrow');
  keptLastColumnFree(terminal);
  terminal.write(keys.ctrl('c').repeat(2));
  expect(await terminal.exited).toBe(0);
  restoredModes(terminal);
  expect((await ledger()).at(-1)).toMatchObject({ type: 'invocation_end', status: 'completed' });
});

test.for([
  ['TERM=dumb', { env: { TERM: 'dumb' } }],
  ['CI', { env: { CI: 'true' } }],
  ['--plain', { args: ['chat', '--plain'] }],
] as const)('40 no app, but lines: %s', async ([, options]) => {
  const { world, start, ledger } = await appBench();
  const terminal = start(options);
  await terminal.shows('What is to be done?');
  world.script({ text: 'Hello.' });
  terminal.write('Hi\r');
  await terminal.shows('Hello.');
  await terminal.shows(/1 round/);
  terminal.write('/exit\r');
  expect(await terminal.exited).toBe(0);
  restoredModes(terminal);
  expect(terminal.raw).not.toContain(`${introducer}[?2004h`);
  expect((await ledger()).at(-1)).toMatchObject({ type: 'invocation_end', status: 'completed' });
});
