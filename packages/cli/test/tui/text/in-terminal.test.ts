import xterm from '@xterm/headless';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markdownLines } from '../../../src/tui/text/markdown/markdown.ts';
import { textOfLine } from '../../../src/tui/text/spans.ts';
import { type Place, visibleString } from '../../../src/tui/text/visible.ts';

const columns = 2_000;

/** Gives the first line of a terminal that a text was written to, and what became of its state. */
async function written(text: string): Promise<object> {
  const terminal = new xterm.Terminal({ cols: columns, rows: 4, allowProposedApi: true });
  const told: string[] = [];
  terminal.onTitleChange((title) => told.push(`title ${title}`));
  terminal.onBell(() => told.push('bell'));
  terminal.onData((answer) => told.push(`answer ${JSON.stringify(answer)}`));
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  const { active } = terminal.buffer;
  const line = active.getLine(0)?.translateToString(true) ?? '';
  const { cursorY, type } = active;
  terminal.dispose();
  return { line: line.trimEnd(), row: cursorY, type, told };
}

/** Sequences that terminals obey: colours, titles, links, the clipboard, modes, queries. */
const sequences = [
  ...['\x1b[31m', '\x1b[2J', '\x1b[H', '\x1b[6n', '\x1b[c', '\x1b[?1049h', '\x1b[?25l', '\x1bc'],
  ...['\x1b]0;owned\x07', '\x1b]8;;http://evil\x1b\\', '\x1b]52;c;ZXZpbA==\x07', '\x1bP$q"p\x1b\\'],
  ...['\x9b31m', '\x9d0;owned\x9c', '\x90q\x9c', '\x85', '\x84', '\x8d', '\x0e', '\x0f', '\x07'],
  ...['\b\b\b', '\r', '\r\n', '\n', '\t', '\x0b', '\x0c', '\x7f', '\x00', '\x18', '\x1a', '\x05'],
];
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(...sequences),
      fc.constantFrom('words ', '日本', 'é', '\u202e', '\u200b', '\u2028', '\ufeff', '31m', '['),
      fc.string({ unit: 'binary-ascii', maxLength: 3 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

const places: readonly Place[] = ['proseLine', 'requestLine', 'outputLine'];

test('a terminal shows a visible text as it is, and does nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, fc.constantFrom(...places), async (text, where) => {
      const shown = visibleString(text, where);
      expect(await written(shown)).toEqual({
        line: shown.trimEnd(),
        row: 0,
        type: 'normal',
        told: [],
      });
    }),
    { numRuns: 150 },
  );
});

test('a terminal shows lines of Markdown as they are, and does nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      for (const line of markdownLines(text, { width: 80 }).map(textOfLine))
        expect(await written(line)).toEqual({
          line: line.trimEnd(),
          row: 0,
          type: 'normal',
          told: [],
        });
    }),
    { numRuns: 60 },
  );
});
