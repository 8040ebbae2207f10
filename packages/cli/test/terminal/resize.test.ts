/** Scenario 10: a terminal that becomes narrower and wider while an answer is streamed. */
import { expect, test } from 'vitest';
import { clearedNothing, keptLastColumnFree } from './kit/byte-checks.ts';
import { keepPicture } from './kit/picture.ts';
import type { PseudoTerminal, TerminalSize } from './kit/pseudo-terminal.ts';
import type { Screen } from './kit/screen.ts';
import { talk } from './kit/talk.ts';

const sizes = [
  { columns: 80, rows: 24 },
  { columns: 60, rows: 20 },
  { columns: 100, rows: 30 },
  { columns: 200, rows: 50 },
];

/** Bytes at the end of each frame: what was written is to be shown now. */
const frameEnd = '\u001B[?2026l';

/** Checks that the live region stands once on the screen, and nothing of an older one beside it. */
function hasNoResidue({ allLines, whole }: Screen, when: string): void {
  const seen = `${when}:\n${whole}`;
  const counted = (pattern: RegExp): number => allLines.filter((line) => pattern.test(line)).length;
  expect(counted(/^─+$/), `hairlines, ${seen}`).toBe(1);
  expect(counted(/^› Ask coder something/), `composers, ${seen}`).toBe(1);
  expect(counted(/coder · world/), `status lines, ${seen}`).toBe(1);
  expect(counted(/runTests test/), `activities, ${seen}`).toBe(1);
}

/**
 * Changes the size right after a frame, which comes once in a second. A frame for the old size that
 * is under way would be painted over lines that the terminal has wrapped anew.
 */
async function resizeBetweenFrames(terminal: PseudoTerminal, size: TerminalSize): Promise<void> {
  const { length } = terminal.raw;
  await terminal.until(
    'the next frame',
    () => terminal.raw.length > length && terminal.raw.endsWith(frameEnd),
  );
  await terminal.resize(size);
}

test.for(sizes)('10 resize-while-streaming-leaves-no-residue at $columns', async (size) => {
  const { world, terminal, say, leave, ledger } = await talk({ size });
  const calls = [{ name: 'runTests', args: { path: 'test/checkout.test.ts' } }];
  world.script({ text: 'I run the test of the whole checkout alone first.', calls });
  say('Why does the checkout test fail?');
  const run = await world.toolCall('runTests');
  // From here on a frame comes only when a second has passed.
  await terminal.showsNow(/runTests test\/checkout\.test\.ts +[1-9]/);
  let { columns } = size;
  for (let narrowed = 1; narrowed <= 3; narrowed++) {
    columns = Math.floor(columns * 0.85);
    await resizeBetweenFrames(terminal, { columns, rows: size.rows });
    run.progress(`line ${narrowed} of a longer output of the test that runs`);
    await terminal.until(`a live region of ${columns} columns`, ({ lines }) => {
      const status = lines.findLast((line) => line !== '') ?? '';
      return status.endsWith('Esc interrupts') && status.length === columns - 1;
    });
    await terminal.showsNow(`line ${narrowed} of`);
    // A frame is read when all of it is there.
    await terminal.showsNow(/^› Ask coder something/m);
    await keepPicture(terminal.screen, `10-narrower-${size.columns}-${narrowed}`);
    hasNoResidue(terminal.screen, `narrowed ${narrowed} times`);
  }
  await resizeBetweenFrames(terminal, size);
  await terminal.until('the live region in its old width', ({ lines }) => {
    const status = lines.findLast((line) => line !== '') ?? '';
    return status.endsWith('Esc interrupts') && status.length === size.columns - 1;
  });
  hasNoResidue(terminal.screen, 'wide again');
  world.script({ text: 'It fails.' });
  run.returns('1 failed');
  await terminal.shows('It fails.');
  await terminal.showsNow('/ commands');
  keptLastColumnFree(terminal);
  clearedNothing(terminal);
  expect(await leave()).toBe(0);
  const { whole } = terminal.screen;
  for (const once of [/› Why does/g, /I run the test/g, /✓ runTests/g, /It fails\./g])
    expect(whole.match(once)).toHaveLength(1);
  const answers = (await ledger()).filter(({ type }) => type === 'assistant');
  expect(answers).toHaveLength(2);
});
