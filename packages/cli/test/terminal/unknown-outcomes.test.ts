/** Scenario 33: calls of unknown outcome, used-up rounds, and where `a` is not offered. */
import type { Event, EventOf } from 'adjutant';
import { expect, test } from 'vitest';
import { keptLastColumnFree } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { keys, takesKeys, talk } from './kit/talk.ts';

const charge = { name: 'charge', args: { order: 17 } };

function eventsOf<Type extends Event['type']>(
  events: readonly Event[],
  type: Type,
): readonly EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

/** Starts a call, and ends it so that nobody knows what became of it. */
async function chargesOnce(): Promise<Awaited<ReturnType<typeof talk>>> {
  const bench = await talk();
  const { world, terminal, say } = bench;
  world.script({ calls: [charge] });
  say('Charge it');
  (await world.toolCall('charge')).breaksOff('the line was cut');
  await terminal.showsNow(/\? Did charge 17 happen\? Its outcome is unknown since \d\d:\d\d/);
  await takesKeys(terminal);
  return bench;
}

test('33 unknown-outcome-question-each-answer: s, it happened', async () => {
  const { world, terminal, leave, ledger } = await chargesOnce();
  await keepPicture(terminal.screen, '10-unknown');
  const { text } = terminal.screen;
  expect(text).toContain('s it happened · r it did not: run again · p tell the model: unknown');
  expect(text).not.toContain('always');
  // Neither of these is one of its keys.
  for (const letter of ['y', 'a']) {
    terminal.write(`${letter}${keys.tab}`);
    await terminal.showsNow('Tab: answer');
    terminal.write(keys.tab);
    await takesKeys(terminal);
  }
  expect(terminal.screen.text).not.toContain('this very call');
  world.script({ text: 'It was charged.' });
  terminal.write('s');
  await terminal.shows('It was charged.');
  expect(await leave()).toBe(0);
  const events = await ledger();
  expect(eventsOf(events, 'tool_input')).toMatchObject([{ decision: 'succeeded', by: 'user' }]);
  expect(eventsOf(events, 'tool_attempt')).toHaveLength(1);
  expect(eventsOf(events, 'tool_result').at(-1)).toMatchObject({
    result: { status: 'success' },
  });
});

test('33 unknown-outcome-question-each-answer: r, it did not and is run again', async () => {
  const { world, terminal, leave, ledger } = await chargesOnce();
  world.script({ text: 'It is charged now.' });
  terminal.write('r');
  (await world.toolCall('charge')).returns('charged');
  await terminal.shows('It is charged now.');
  expect(await leave()).toBe(0);
  const events = await ledger();
  expect(eventsOf(events, 'tool_input')).toMatchObject([{ decision: 'retry', by: 'user' }]);
  const attempts = eventsOf(events, 'tool_attempt');
  expect(attempts).toHaveLength(2);
});

test('33 unknown-outcome-question-each-answer: p, the model is told that nobody knows', async () => {
  const { world, terminal, leave, ledger } = await chargesOnce();
  world.script({ text: 'I cannot tell.' });
  terminal.write('p');
  await terminal.shows('I cannot tell.');
  expect(await leave()).toBe(0);
  const events = await ledger();
  expect(eventsOf(events, 'tool_input')).toMatchObject([{ decision: 'report', by: 'user' }]);
  expect(eventsOf(events, 'tool_result').at(-1)).toMatchObject({ result: { status: 'unknown' } });
  expect(terminal.screen.whole).toContain('outcome unknown: check before repeating');
});

test('33 a call that a kill has cut off is asked about when its session is opened again', async () => {
  const { world, terminal, say, start, ledger } = await talk();
  world.script({ calls: [charge] });
  say('Charge it');
  await world.toolCall('charge');
  await terminal.showsNow('charge 17');
  terminal.kill('SIGKILL');
  await terminal.exited;
  const again = start({ args: ['chat', '--session', 'last'] });
  await again.showsNow('Enter goes on');
  again.write(keys.enter);
  await again.showsNow(/\? Did charge 17 happen\?/);
  await keepPicture(again.screen, '10-after-a-kill');
  await takesKeys(again);
  world.script({ text: 'It was charged.' });
  again.write('s');
  await again.shows('It was charged.');
  expect(eventsOf(await ledger(), 'tool_input')).toMatchObject([{ decision: 'succeeded' }]);
});

test.for([
  { key: 'c', words: 'c 2 more', said: 'Two rounds more.', decision: 'continue' },
  { key: 'n', words: 'n answer with what it has', said: 'That is all.', decision: 'reject' },
])('33 used-up rounds: $words', async ({ key, words, said, decision }) => {
  const { world, terminal, say, leave, ledger } = await talk({ env: { ROUNDS: '2' } });
  world.result('readFile', 'a');
  const calls = [{ name: 'readFile', args: { path: 'a' } }];
  world.script({ calls }, { calls });
  say('Look around');
  await terminal.showsNow(/\? coder has used its 2 rounds\. +#\d+/);
  await takesKeys(terminal);
  expect(terminal.screen.text).toContain(words);
  expect(terminal.screen.text).not.toContain('always');
  await keepPicture(terminal.screen, `10-limit-${key}`);
  world.script({ text: said });
  terminal.write(key);
  if (decision === 'reject') {
    await terminal.showsNow('Why? ');
    terminal.write(keys.enter);
  }
  await terminal.shows(said);
  keptLastColumnFree(terminal);
  expect(await leave()).toBe(0);
  expect(eventsOf(await ledger(), 'tool_input')).toMatchObject([{ decision }]);
});

test.for([
  { call: { name: 'dropTable', args: { table: 'orders' } }, why: 'a destructive tool' },
  { call: { name: 'bookFlight', args: { flight: 'LH1' } }, why: 'a request of others' },
])('30 `a` is not offered for $why', async ({ call }) => {
  const { world, terminal, say, ledger } = await talk();
  world.script({ calls: [call] });
  say('Do it');
  await terminal.showsNow(`wants to call ${call.name}`);
  await takesKeys(terminal);
  expect(terminal.screen.text).toContain('y allow');
  expect(terminal.screen.text).not.toContain('always');
  terminal.write(`a${keys.tab}`);
  await terminal.showsNow('Tab: answer');
  expect(terminal.screen.text).not.toContain('this very call');
  expect(eventsOf(await ledger(), 'tool_input')).toEqual([]);
});
