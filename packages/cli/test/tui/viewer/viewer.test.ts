import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyInput } from '../../../src/tui/editor/keys.ts';
import type { ViewActs } from '../../../src/tui/full-screen/stacked-view.ts';
import { textOfLine } from '../../../src/tui/text/spans.ts';
import { displayWidth } from '../../../src/tui/text/width.ts';
import { Viewer } from '../../../src/tui/viewer/viewer.ts';

const screen = { columns: 40, rows: 8, ascii: false };

function viewerOf(...texts: readonly string[]): {
  readonly viewer: Viewer;
  readonly copied: string[];
  readonly printed: string[];
  readonly shown: () => string[];
  readonly type: (text: string) => void;
} {
  const copied: string[] = [];
  const printed: string[] = [];
  const acts: ViewActs = {
    copy: (text) => copied.push(text),
    print: (_title, text) => printed.push(text),
    changed: () => undefined,
  };
  const pages = texts.map((text, at) => ({ title: `#${at + 1} result`, text: () => text }));
  const viewer = new Viewer(pages, acts);
  const shown = (): string[] => viewer.lines(screen).map(textOfLine);
  shown();
  return {
    viewer,
    ...{ copied, printed, shown },
    type: (text) => void viewer.take({ kind: 'text', text }),
  };
}

const numbered = (count: number): string =>
  Array.from({ length: count }, (_, at) => `line ${at + 1}`).join('\n');

test('a text is shown whole, with the numbers of its lines', () => {
  const { viewer, shown, type } = viewerOf(numbered(218));
  expect(shown()).toEqual([
    expect.stringMatching(/^#1 result +lines 1–5\/218$/),
    ...['    1 line 1', '    2 line 2', '    3 line 3', '    4 line 4', '    5 line 5'],
    expect.stringMatching(/^ ↑↓ .* q back$/),
  ]);
  viewer.take(keyInput('pageDown'));
  expect(shown()[1]).toBe('    6 line 6');
  type('G');
  expect(shown()[5]).toBe('  218 line 218');
  type('g');
  viewer.take(keyInput('down'));
  expect(shown()[1]).toBe('    2 line 2');
});

test('a search goes to the next line, goes round, and says when there is none', () => {
  const { viewer, shown, type } = viewerOf(numbered(60));
  type('/');
  type('line 4');
  expect(shown().at(-1)).toBe(' /line 4▏');
  viewer.take(keyInput('enter'));
  expect(shown()[1]).toBe('    4 line 4');
  type('n');
  expect(shown()[1]).toBe('   40 line 40');
  type('NN');
  expect(shown()[1]).toBe('   49 line 49');
  type('/');
  type('nowhere');
  viewer.take(keyInput('enter'));
  expect(shown().at(-1)).toContain('"nowhere" is not in it');
});

test('a wrapped line keeps its number, and the place is kept', () => {
  const { shown, type } = viewerOf(`short\n${'word '.repeat(20)}\nlast`);
  type('w');
  const rows = shown();
  expect(rows.filter((row) => /^ +\d/.test(row))).toHaveLength(2);
  expect(rows[3]).toMatch(/^ {6}word/);
  type('w');
  expect(shown()[2]).toContain('…');
});

test('copies and prints only when asked to, and goes to the next output', () => {
  const { viewer, copied, printed, shown, type } = viewerOf('newest', 'before');
  expect([copied, printed]).toEqual([[], []]);
  type('y');
  expect(shown().at(-1)).toContain('copied');
  type('p');
  expect([copied, printed]).toEqual([['newest'], ['newest']]);
  viewer.take(keyInput('o', { ctrl: true }));
  expect(shown()[1]).toBe('    1 before');
  viewer.take(keyInput('o', { ctrl: true }));
  expect(shown()[1]).toBe('    1 newest');
  expect(viewer.take(keyInput('escape'))).toBe(true);
  expect(viewer.take({ kind: 'text', text: 'q' })).toBe(true);
});

test('whatever the text, the keys and the size: the view fits, and obeys nothing', () => {
  const texts = fc.array(
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\u001B[2J', '界世', '\t', '\n')),
    { maxLength: 40 },
  );
  const keys = fc.array(fc.constantFrom('w', 'j', 'k', 'G', 'g', ' ', 'n', '/'), { maxLength: 12 });
  const sizes = fc.record({
    columns: fc.integer({ min: 10, max: 120 }),
    rows: fc.integer({ min: 4, max: 30 }),
    ascii: fc.boolean(),
  });
  fc.assert(
    fc.property(texts, keys, sizes, (parts, pressed, size) => {
      const { viewer, type } = viewerOf(parts.join(''));
      for (const key of pressed) {
        const lines = viewer.lines(size);
        expect(lines.length).toBe(Math.max(3, size.rows - 1));
        for (const line of lines) {
          const text = textOfLine(line);
          expect(displayWidth(text)).toBeLessThan(size.columns);
          expect(text).not.toMatch(/\p{Cc}/u);
        }
        type(key);
      }
    }),
  );
});
