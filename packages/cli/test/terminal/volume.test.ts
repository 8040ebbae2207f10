/** Scenario 9: an answer of ten thousand lines, and what a key costs behind it. */
import type { EventOf } from 'adjutant';
import { expect, test } from 'vitest';
import { clearedNothing } from './kit/byte-checks.ts';
import { keys, talk } from './kit/talk.ts';

test('9 ten-thousand-lines-no-lag-and-bytes-per-frame-bounded', async () => {
  const { world, terminal, say, leave, ledger } = await talk();
  say('Tell me everything');
  const call = await world.modelCall();
  const lines = Array.from({ length: 10_000 }, (_, n) => `This is line ${n + 1}.`);
  for (let at = 0; at < lines.length; at += 100)
    call.says(`${lines.slice(at, at + 100).join('\n\n')}\n\n`);
  // The composer takes keys meanwhile.
  terminal.write('a thought');
  await terminal.showsNow('› a thought');
  call.ends();
  await terminal.shows('This is line 10000.');
  await terminal.showsNow('/ commands');
  const printed = terminal.screen.allLines.filter((line) => line.includes('This is line'));
  const shown = new Set(printed.map((line) => line.trim()));
  expect(lines.filter((line) => !shown.has(line))).toEqual([]);
  expect(printed).toHaveLength(lines.length);
  // Each line is written once, however many frames came after it.
  const text = lines.join('\n').length;
  expect(terminal.raw.length).toBeLessThan(4 * text);
  const before = terminal.raw.length;
  terminal.write('!');
  await terminal.showsNow('› a thought!');
  // A frame costs what is live, and not what was printed.
  expect(terminal.raw.length - before).toBeLessThan(2_000);
  terminal.write(keys.ctrl('u'));
  await terminal.hides('a thought');
  clearedNothing(terminal);
  expect(await leave()).toBe(0);
  const answer = (await ledger()).find(({ type }) => type === 'assistant') as EventOf<'assistant'>;
  expect(answer.text.match(/This is line/g)).toHaveLength(10_000);
});
