/** Scenarios 28 to 30 and 32: requests that wait for a person, and the guards around their keys. */
import type { Event } from 'adjutant';
import { expect, test } from 'vitest';
import { keptLastColumnFree, restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { keys, takesKeys, talk } from './kit/talk.ts';

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 60, rows: 20 },
  { columns: 100, rows: 30 },
  { columns: 200, rows: 50 },
];
const mail = { name: 'sendMail', args: { to: 'anna@example.org', subject: 'Invoice 17' } };
const edit = {
  name: 'editFile',
  args: {
    path: 'src/money.ts',
    oldText: '  return Math.round(value * 100) / 100;',
    newText: '  return Math.floor(value * 100 + 0.5) / 100;',
  },
};

function answersIn(events: readonly Event[]): readonly Event[] {
  return events.filter(({ type }) => type === 'tool_input');
}

test.for(sizes)(
  '28 approval-arriving-while-typing-does-not-take-the-y at $columns',
  async (size) => {
    const { world, terminal, say, leave, ledger } = await talk({ size });
    say('Send it');
    const call = await world.modelCall();
    terminal.write('why yes');
    await terminal.showsNow('› why yes');
    call.answers({ calls: [mail] });
    await terminal.showsNow('wants to call sendMail');
    await terminal.showsNow('Tab: answer');
    await keepPicture(terminal.screen, `6-while-typing-${size.columns}`);
    terminal.write('y');
    await terminal.showsNow('› why yesy');
    expect(answersIn(await ledger())).toEqual([]);
    terminal.write(keys.tab);
    await takesKeys(terminal);
    // Enter never agrees, and a text of several letters is none of the keys.
    terminal.write(keys.enter);
    terminal.write('yes');
    terminal.paste('y');
    terminal.write(keys.tab);
    await terminal.showsNow('Tab: answer');
    expect(answersIn(await ledger())).toEqual([]);
    world.result('sendMail', 'sent');
    world.script({ text: 'It is sent.' });
    terminal.write(`${keys.ctrl('u')}${keys.tab}`);
    await takesKeys(terminal);
    terminal.write('y');
    await terminal.shows('It is sent.');
    keptLastColumnFree(terminal);
    expect(await leave()).toBe(0);
    expect(answersIn(await ledger())).toMatchObject([{ decision: 'approve' }]);
    expect(terminal.screen.whole).toMatch(/✓ sendMail anna@example\.org/);
    restoredModes(terminal);
  },
);

test('28 a request takes the focus by itself where nobody types, and Esc answers nothing', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.script({ calls: [mail] });
  say('Send it');
  await takesKeys(terminal);
  terminal.write(keys.escape);
  await terminal.showsNow('Tab: answer');
  terminal.write('wait');
  await terminal.showsNow('› wait');
  expect(answersIn(await ledger())).toEqual([]);
  world.script({ text: 'Not sent.' });
  terminal.write(keys.tab);
  await takesKeys(terminal);
  terminal.write('n');
  await terminal.showsNow('Why? ');
  terminal.write(keys.escape);
  await terminal.showsNow('y allow · n refuse');
  terminal.write('n');
  await terminal.showsNow('Enter: no reason · Esc: back');
  terminal.write(keys.enter);
  await terminal.shows('Not sent.');
  expect(await leave()).toBe(0);
  const [answer] = answersIn(await ledger());
  expect(answer).toMatchObject({ decision: 'reject' });
  expect(answer).not.toHaveProperty('reason');
});

test('28 a message that is only a yes is asked about before it is an answer', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.script({ calls: [mail] });
  say('Send it');
  await takesKeys(terminal);
  terminal.write(keys.tab);
  await terminal.showsNow('Tab: answer');
  say('yes');
  await terminal.showsNow(/Is that the answer to #\d+\?/);
  await keepPicture(terminal.screen, '6-is-that-the-answer');
  terminal.write(keys.escape);
  await terminal.showsNow('› yes');
  expect(answersIn(await ledger())).toEqual([]);
  world.result('sendMail', 'sent');
  world.script({ text: 'It is sent.' });
  terminal.write(keys.enter);
  await terminal.showsNow(/Is that the answer to #\d+\?/);
  terminal.write('y');
  await terminal.hides('it is a message');
  terminal.write(keys.enter);
  await terminal.shows('It is sent.');
  expect(await leave()).toBe(0);
  const events = await ledger();
  expect(answersIn(events)).toMatchObject([{ decision: 'approve' }]);
  expect(events.filter(({ type }) => type === 'user')).toHaveLength(1);
});

test.for(sizes)('29 diff-edit-refuse-with-reason-in-ledger at $columns', async (size) => {
  const { world, terminal, say, leave, ledger } = await talk({ size });
  world.script({ calls: [edit] }, { text: 'Then not.' });
  say('Round half up');
  await takesKeys(terminal);
  const { text } = terminal.screen;
  expect(text).toMatch(/\? coder wants to call editFile src\/money\.ts/);
  expect(text).toMatch(/1 - {3}return Math\.round\(value \* 100\) \/ 100;/);
  expect(text).toMatch(/1 \+ {3}return Math\.floor/);
  expect(text).toContain('1 file, +1 −1');
  await keepPicture(terminal.screen, `6-edit-${size.columns}`);
  terminal.write('n');
  await terminal.showsNow('Why? ');
  terminal.write('not on Sunday');
  await terminal.showsNow('Why? not on Sunday');
  await keepPicture(terminal.screen, `6-why-${size.columns}`);
  terminal.write(keys.enter);
  await terminal.shows('Then not.');
  keptLastColumnFree(terminal);
  expect(await leave()).toBe(0);
  expect(answersIn(await ledger())).toMatchObject([
    { decision: 'reject', reason: 'not on Sunday' },
  ]);
  expect(terminal.screen.whole).toMatch(/refused by you: "not o(n Sunday"|…)/);
});

function decisionsOf(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'decision' && event.component === 'request' ? [event.decision] : [],
  );
}

test('30 always-covers-the-next-call-and-can-be-taken-back', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.result('editFile', 'done');
  world.script({ calls: [edit] }, { calls: [edit] }, { text: 'Both are done.' });
  say('Round half up');
  await takesKeys(terminal);
  terminal.write('a');
  await terminal.showsNow('3 every editFile below src/');
  await keepPicture(terminal.screen, '7-always');
  terminal.write(`${keys.enter}7`);
  terminal.write(keys.escape);
  await terminal.showsNow('a always');
  terminal.write('a');
  await terminal.showsNow('1 this very call');
  terminal.write('3');
  await terminal.shows('Both are done.');
  expect(decisionsOf(await ledger())).toEqual(['standing', 'covered']);
  await terminal.showsNow('/ commands');
  say('/always');
  await terminal.shows('1  every editFile below src/');
  say('/always remove 2');
  await terminal.shows('There is none with number 2.');
  say('/always remove 1');
  await terminal.shows('Taken back, and asked about again');
  world.script({ calls: [edit] }, { text: 'Then not.' });
  say('Once more');
  await takesKeys(terminal);
  await keepPicture(terminal.screen, '7-taken-back');
  terminal.write('n');
  await terminal.showsNow('Why? ');
  terminal.write(keys.enter);
  await terminal.shows('Then not.');
  expect(await leave()).toBe(0);
  expect(decisionsOf(await ledger())).toEqual(['standing', 'covered', 'withdraw_standing']);
  expect(answersIn(await ledger())).toMatchObject([
    { decision: 'approve' },
    { decision: 'reject' },
  ]);
});

test('32 form-all-field-kinds', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.script({ calls: [{ name: 'book', args: { flight: 'LH1' } }] }, { text: 'Booked.' });
  say('Book it');
  await terminal.showsNow('Alt-Enter send');
  await terminal.showsNow('Born *');
  await terminal.until('a cursor in the form', ({ lines, cursor }) =>
    (lines[cursor.row] ?? '').includes('Name *'),
  );
  // What comes at once with a line break inside would be a paste.
  const steps = async (...list: readonly (readonly [string, string])[]): Promise<void> => {
    for (const [typed, shown] of list) {
      terminal.write(typed);
      await terminal.showsNow(shown);
    }
  };
  await steps(
    ['Ada Lovelace', 'Ada Lovelace'],
    [keys.enter, '› Born'],
    ['1815-12-1', '1815-12-1'],
    [keys.altEnter, 'must be a date: 1815-12-1'],
  );
  await keepPicture(terminal.screen, '8-form');
  expect(answersIn(await ledger())).toEqual([]);
  await steps(
    ['0', '1815-12-10'],
    [keys.tab, '› Seat'],
    [' ', '(•) window'],
    [keys.tab, '› Luggage'],
    [' ', '[x] cabin'],
    [keys.tab, '› Insured'],
    [' ', '[x]'],
    [keys.tab, '› Bags'],
    ['2', ' 2'],
  );
  await keepPicture(terminal.screen, '8-filled');
  terminal.write(keys.altEnter);
  await terminal.shows('Booked.');
  expect(await leave()).toBe(0);
  expect(answersIn(await ledger())).toMatchObject([
    {
      input: {
        name: 'Ada Lovelace',
        born: '1815-12-10',
        seat: 'window',
        luggage: ['cabin'],
        insured: true,
      },
    },
  ]);
});

test('32 the arguments of a call are edited in a form, and Esc answers nothing', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.result('refund', 'paid');
  world.script({ calls: [{ name: 'refund', args: { order: 17, cents: 51 } }] }, { text: 'Paid.' });
  say('Pay it back');
  await takesKeys(terminal);
  terminal.write('e');
  await terminal.showsNow('› order *');
  terminal.write(keys.escape);
  await terminal.showsNow('e edit');
  terminal.write('e');
  await terminal.showsNow('› order *');
  terminal.write(keys.tab);
  await terminal.showsNow('› cents *');
  terminal.write('99');
  await terminal.showsNow('5199');
  terminal.write(keys.altEnter);
  await terminal.showsNow('must be ≤ 5000: 5199');
  await keepPicture(terminal.screen, '8-edit');
  terminal.write(`${keys.ctrl('u')}50`);
  await terminal.hides('5199');
  expect(answersIn(await ledger())).toEqual([]);
  terminal.write(keys.altEnter);
  await terminal.shows('Paid.');
  expect(await leave()).toBe(0);
  expect(answersIn(await ledger())).toMatchObject([
    { decision: 'edit', input: { order: 17, cents: 50 } },
  ]);
});

test.for([
  { size: { columns: 40, rows: 24 }, answers: 'y allow · n refuse · e · a' },
  { size: { columns: 20, rows: 24 }, answers: 'y · n · e · a' },
  { size: { columns: 80, rows: 8 }, answers: 'y allow · n refuse · e edit · a always' },
])(
  'a request is shown with its keys where there is hardly room: $size.columns × $size.rows',
  async ({ size, answers }) => {
    const { world, terminal, say, leave, ledger } = await talk({ size });
    world.script({ calls: [mail] });
    world.result('sendMail', 'sent');
    say('Send it');
    await terminal.showsNow('subject: Invoice');
    await terminal.showsNow(answers);
    await terminal.until('keys that are not dead', ({ lines, top, cells }) => {
      const row = lines.findIndex((line) => line.startsWith('  y '));
      return row !== -1 && cells(top + row)[2]?.bold === true;
    });
    world.script({ text: 'Sent.' });
    terminal.write('y');
    await terminal.shows('Sent.');
    keptLastColumnFree(terminal);
    if (size.columns >= 40) expect(await leave()).toBe(0);
    expect(answersIn(await ledger())).toMatchObject([{ decision: 'approve' }]);
  },
);
