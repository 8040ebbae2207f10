/** Scenario 31: several requests of one round, and what becomes of their answers. */
import type { Event, EventOf } from 'adjutant';
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
const payOut = { name: 'payOut', args: { account: 'DE17', cents: 5120 } };
const refund = { name: 'refund', args: { order: 17, cents: 4200 } };
const flight = { name: 'bookFlight', args: { flight: 'LHR-JFK, 3 May' } };

function answersIn(events: readonly Event[]): readonly EventOf<'tool_input'>[] {
  return events.filter((event) => event.type === 'tool_input');
}

/** The answer to the request about a call of a tool. */
function answerAbout(events: readonly Event[], name: string): EventOf<'tool_input'> | undefined {
  const asked = events.flatMap((event) =>
    event.type === 'tool_yield' && event.name === name ? [event.requestId] : [],
  );
  return answersIn(events).find(({ requestId }) => asked.includes(requestId));
}

test.for(sizes)(
  '31 three-requests-one-expires-one-answered-elsewhere at $columns',
  async (size) => {
    const env = { PAY_OUT_EXPIRES: '12000' };
    const { world, terminal, say, leave, ledger, beside } = await talk({ size, env });
    world.result('sendMail', 'sent');
    world.result('bookFlight', 'booked');
    world.script({ calls: [mail, flight, payOut] }, { text: 'Two of three.' });
    say('Do it all');
    await terminal.showsNow('3 calls wait for you');
    await takesKeys(terminal);
    expect(terminal.screen.text).toMatch(/\? 3 calls wait for you +earliest 0:\d\d left/);
    expect(terminal.screen.text).toMatch(/› 1 {2}sendMail {4}anna@example\.org .* #\d+/);
    expect(terminal.screen.text).toMatch(/ {2}2 {2}bookFlight .*#\d+ +cfo decides/);
    await keepPicture(terminal.screen, `9-list-${size.columns}`);
    terminal.write('y');
    await terminal.showsNow(/ {2}1 {2}sendMail .* allowed/);
    await terminal.showsNow('2 calls wait for you');
    await beside(async ({ requests }) => {
      const [asked] = (await requests.list({ status: 'pending' })).filter(
        ({ name }) => name === 'bookFlight',
      );
      await requests.answer(asked?.requestId ?? '', { decision: 'approve', by: 'operator:cfo' });
    });
    // Beside the request in the list, or with the result of the call.
    await terminal.shows(/bookFlight .*allowed by (?:operator:)?cfo/);
    await keepPicture(terminal.screen, `9-answered-${size.columns}`);
    await terminal.shows('Two of three.');
    keptLastColumnFree(terminal);
    expect(await leave()).toBe(0);
    const { whole } = terminal.screen;
    expect(whole).toMatch(/✓ sendMail anna@example\.org/);
    expect(whole).toMatch(/✗ payOut DE17 .*expired/);
    const events = await ledger();
    expect(answerAbout(events, 'sendMail')).toMatchObject({ decision: 'approve', by: 'user' });
    expect(answerAbout(events, 'bookFlight')).toMatchObject({ by: 'operator:cfo' });
    expect(answerAbout(events, 'payOut')).toMatchObject({ decision: 'expire' });
    restoredModes(terminal);
  },
);

test('31 Y allows all that are left after it has shown them, and leaves out those of others', async () => {
  const { world, terminal, say, leave, ledger, beside } = await talk();
  world.result('sendMail', 'sent');
  world.result('payOut', 'paid');
  world.script({ calls: [mail, payOut, flight] }, { text: 'Done.' });
  say('Do it all');
  await terminal.showsNow('3 calls wait for you');
  await takesKeys(terminal);
  terminal.write('Y');
  await terminal.showsNow('Allow these 2 calls?');
  await terminal.showsNow('subject: Invoice 17');
  await keepPicture(terminal.screen, '9-all');
  terminal.write(keys.escape);
  await terminal.showsNow('3 calls wait for you');
  expect(answersIn(await ledger())).toEqual([]);
  terminal.write('Y');
  await terminal.showsNow('y allow 2 calls');
  terminal.write('y');
  await terminal.showsNow('1 call waits for you');
  await takesKeys(terminal);
  // It is up to somebody else.
  terminal.write('y');
  await terminal.shows(/bookFlight #\d+: only operator:cfo may decide\./);
  await keepPicture(terminal.screen, '9-refused');
  await beside(async ({ requests }) => {
    const [asked] = await requests.list({ status: 'pending' });
    await requests.answer(asked?.requestId ?? '', { decision: 'reject', by: 'operator:cfo' });
  });
  await terminal.shows('Done.');
  expect(await leave()).toBe(0);
  expect(answersIn(await ledger()).map(({ decision, by }) => [decision, by])).toEqual([
    ['approve', 'user'],
    ['approve', 'user'],
    ['reject', 'operator:cfo'],
  ]);
});

test('31 Enter shows one of them whole, and Esc goes back to the list', async () => {
  const { world, terminal, say, leave, ledger } = await talk({ size: { columns: 80, rows: 20 } });
  world.result('refund', 'paid');
  const long = {
    ...mail.args,
    subject: Array.from({ length: 40 }, (_, n) => `at ${n}`).join('\n'),
  };
  world.script({ calls: [{ ...mail, args: long }, refund] }, { text: 'Then not.' });
  say('Send it');
  await terminal.showsNow('2 calls wait for you');
  await takesKeys(terminal);
  expect(terminal.screen.text).toMatch(/marked \(4\d lines not seen\)/);
  terminal.write(keys.enter);
  await terminal.showsNow(/y allow \(\d+ lines not seen\)/);
  await keepPicture(terminal.screen, '9-detail');
  for (let page = 0; page < 9; page++) terminal.write(keys.pageDown);
  await terminal.showsNow('at 39');
  await terminal.showsNow('y allow · n refuse');
  terminal.write(keys.pageUp);
  await terminal.hides('at 39');
  // The end was seen.
  expect(terminal.screen.text).toContain('y allow · n refuse');
  terminal.write(keys.escape);
  await terminal.showsNow('2 calls wait for you');
  await terminal.hides('not seen');
  terminal.write('n');
  await terminal.showsNow('Why? ');
  terminal.write(keys.enter);
  await terminal.showsNow('1 call waits for you');
  await takesKeys(terminal);
  terminal.write('y');
  await terminal.shows('Then not.');
  expect(await leave()).toBe(0);
  expect(answersIn(await ledger()).map(({ decision }) => decision)).toEqual(['reject', 'approve']);
});
