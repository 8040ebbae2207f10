/** Scenarios 5 to 9: what is streamed, printed and kept. Cells of the screen and the ledger are read. */
import type { EventOf } from 'adjutant';
import { expect, test } from 'vitest';
import { clearedNothing, keptLastColumnFree, restoredModes } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import { talk } from './kit/talk.ts';

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 60, rows: 20 },
  { columns: 100, rows: 30 },
  { columns: 200, rows: 50 },
];

test.for(sizes)('5 stream-markdown-word-wrap at $columns', async (size) => {
  const { world, terminal, say, leave, ledger } = await talk({ size });
  say('Why does the test fail?');
  const call = await world.modelCall();
  call.says('The helper is used in two places, so I run the test alone first.\n\nThen ');
  await terminal.showsNow('Then');
  await keepPicture(terminal.screen, `3-streaming-${size.columns}`);
  call.says('I look.');
  call.ends();
  await terminal.shows('I look.');
  keptLastColumnFree(terminal);
  expect(await leave()).toBe(0);
  const { whole } = terminal.screen;
  expect(whole.replaceAll(/\s+/g, ' ')).toContain('so I run the test alone first. Then I look.');
  expect(whole.match(/The helper/g)).toHaveLength(1);
  const events = await ledger();
  const answer = events.find((event) => event.type === 'assistant') as EventOf<'assistant'>;
  expect(answer.text).toContain('Then I look.');
  clearedNothing(terminal);
  restoredModes(terminal);
});

test('6 calls-fold-to-one-line-and-five-to-one', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  world.result('readFile', 'a\nb\nc');
  world.result('searchFiles', 'x');
  const read = { name: 'readFile', args: { path: 'src/money.ts' } };
  const search = { name: 'searchFiles', args: { pattern: 'round' } };
  world.script(
    { calls: [read] },
    { calls: [read, read, read, search, search] },
    { text: 'That is all.' },
  );
  say('Look around');
  await terminal.shows('That is all.');
  expect(await leave()).toBe(0);
  await keepPicture(terminal.screen, '3-calls');
  const { allLines } = terminal.screen;
  expect(allLines.find((line) => line.startsWith('✓ readFile'))).toMatch(
    /^✓ readFile src\/money\.ts +3 lines · \d+ ms {2}#\d+$/,
  );
  expect(allLines.find((line) => line.includes('5 calls'))).toMatch(
    /^✓ 5 calls {2}readFile ×3 · searchFiles ×2 +\d.*s {2}#\d+–\d+$/,
  );
  const results = (await ledger()).filter(({ type }) => type === 'tool_result');
  expect(results).toHaveLength(6);
  keptLastColumnFree(terminal);
});

test('7 long-output-cut', async () => {
  const { world, terminal, say, leave } = await talk();
  const lines = Array.from({ length: 218 }, (_, n) => `line ${n + 1}`);
  world.script(
    { calls: [{ name: 'runTests', args: { path: 'test/checkout.test.ts' } }] },
    { text: 'It fails.' },
  );
  say('Run it');
  const call = await world.toolCall('runTests');
  call.progress('rounds half up: expected 1.01');
  await terminal.showsNow('rounds half up');
  await keepPicture(terminal.screen, '3-running');
  call.fails(lines.join('\n'));
  await terminal.shows('It fails.');
  expect(await leave()).toBe(0);
  await keepPicture(terminal.screen, '4-long-output');
  const { whole } = terminal.screen;
  expect(whole).toMatch(/✗ runTests test\/checkout\.test\.ts/);
  expect(whole).toMatch(/│ … \d+ more lines · \^O whole · \/show \d+/);
  expect(whole).not.toContain('line 100');
  expect(whole).toContain('line 218');
});

test('8 answer-longer-than-the-screen-keeps-scrollback', async () => {
  const { world, terminal, say, leave } = await talk();
  say('Tell me everything');
  const call = await world.modelCall();
  const paragraphs = Array.from({ length: 60 }, (_, n) => `Paragraph ${n + 1}.`);
  for (const text of paragraphs) call.says(`${text}\n\n`);
  await terminal.shows('Paragraph 60.');
  call.ends();
  await terminal.showsNow('/ commands');
  expect(await leave()).toBe(0);
  const shown = terminal.screen.allLines.filter((line) => line.includes('Paragraph'));
  expect(shown.map((line) => line.trim())).toEqual(paragraphs);
  clearedNothing(terminal);
});
