/** Scenarios 12, 14, 17 and 23: what terminals send when a person types and pastes. */
import { expect, test } from 'vitest';
import { keptLastColumnFree } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { keys, talk } from './kit/talk.ts';

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 60, rows: 20 },
  { columns: 100, rows: 30 },
  { columns: 200, rows: 50 },
];
const left = '\u001B[D';

test('12 paste-without-brackets-sends-nothing', async () => {
  const { world, terminal, leave, ledger } = await talk();
  // Windows ends lines by two characters, others by one.
  terminal.write('/quit\rsecond\r\nthird\r');
  await terminal.showsNow(/› \/quit\n {2}second\n {2}third\n/);
  expect(await ledger().catch(() => [])).toEqual([]);
  terminal.write('end');
  await terminal.showsNow(/ {2}third\n {2}end/);
  world.script({ text: 'Four lines.' });
  terminal.write(keys.enter);
  await terminal.shows('Four lines.');
  expect(await leave()).toBe(0);
  const users = (await ledger()).filter(({ type }) => type === 'user');
  expect(users).toMatchObject([{ text: '/quit\nsecond\nthird\nend' }]);
});

test('14 paste-without-end-mark-recovers', async () => {
  const { world, terminal, leave, ledger } = await talk();
  terminal.write('\u001B[200~half a paste\rof two lines');
  await terminal.showsNow(/› half a paste\n {2}of two lines/);
  expect(await ledger().catch(() => [])).toEqual([]);
  // Keys are keys again.
  terminal.write(' and more');
  await terminal.showsNow('of two lines and more');
  world.script({ text: 'Whole.' });
  terminal.write(keys.enter);
  await terminal.shows('Whole.');
  expect(await leave()).toBe(0);
  const users = (await ledger()).filter(({ type }) => type === 'user');
  expect(users).toMatchObject([{ text: 'half a paste\nof two lines and more' }]);
});

test.for(sizes)('17 wide-and-combining-characters-cursor-right at $columns', async (size) => {
  const { world, terminal, leave, ledger } = await talk({ size });
  const stands = (column: number, text: string): Promise<void> =>
    terminal.until(`the cursor in column ${column} of ${text}`, ({ cursor, lines }) => {
      const line = lines[cursor.row] ?? '';
      return cursor.column === column && line.trimEnd() === text;
    });
  // Two columns of gutter, two for each wide character, none for an accent of its own.
  terminal.write('日本e\u0301x');
  await stands(8, '› 日本e\u0301x');
  terminal.write(left);
  await stands(7, '› 日本e\u0301x');
  terminal.write(left);
  await stands(6, '› 日本e\u0301x');
  terminal.write(left);
  await stands(4, '› 日本e\u0301x');
  terminal.write('語');
  await stands(6, '› 日語本e\u0301x');
  terminal.write(keys.ctrl('e'));
  await stands(10, '› 日語本e\u0301x');
  // One key deletes what looks like one character.
  terminal.write('\u007F\u007F');
  await stands(8, '› 日語本');
  const isOdd = size.columns % 2 === 1;
  const perRow = (size.columns - 3 - (isOdd ? 0 : 1)) / 2;
  const full = '語'.repeat(perRow - 3);
  terminal.write(full);
  await terminal.showsNow(`日語本${full}`);
  terminal.write('次');
  await stands(4, '  次');
  await keepPicture(terminal.screen, `17-wide-${size.columns}`);
  world.script({ text: `${'日本語です。'.repeat(size.columns)} End.` });
  terminal.write(keys.enter);
  await terminal.shows('End.');
  await terminal.showsNow('/ commands');
  keptLastColumnFree(terminal);
  expect(await leave()).toBe(0);
  const user = (await ledger()).find(({ type }) => type === 'user');
  expect(user).toMatchObject({ text: `日語本${full}次` });
  const printed = terminal.screen.allLines.join('').replaceAll(/[^日本語です。]/g, '');
  expect(printed).toContain('日本語です。'.repeat(size.columns));
});

test('23 split-arrow-key-does-not-interrupt', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.script({ text: 'Yes.' });
  say('a former message');
  await terminal.shows('Yes.');
  await terminal.showsNow('/ commands');
  say('Tell me');
  const call = await world.modelCall();
  call.says('One');
  await terminal.showsNow('One');
  // Slow lines part the bytes of a key anywhere.
  for (const byte of [...keys.up, ...keys.up]) terminal.write(byte);
  await terminal.showsNow('› a former message');
  call.answers({ text: ' and two.' });
  await terminal.shows('One and two.');
  await terminal.showsNow('/ commands');
  expect(await leave()).toBe(0);
  const events = await ledger();
  expect(events.at(-1)).toMatchObject({ type: 'invocation_end', status: 'completed' });
  expect(events.filter((event) => event.type === 'assistant' && event.cut === true)).toEqual([]);
});
