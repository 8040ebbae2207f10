import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Line, splitLines, textOfLine } from '../../../src/tui/text/spans.ts';
import { visible, visibleString } from '../../../src/tui/text/visible.ts';
import { displayWidth, graphemes } from '../../../src/tui/text/width.ts';
import {
  cutLine,
  cutLongLine,
  cutMiddle,
  cutText,
  wrapLine,
  wrapText,
} from '../../../src/tui/text/wrap.ts';

test('lines are wrapped at words', () => {
  expect(wrapText('The helper is used in two places.', 14)).toEqual([
    'The helper is',
    'used in two',
    'places.',
  ]);
  expect(wrapText('  indented text\n\nnext', 10)).toEqual(['  indented', 'text', '', 'next']);
});

test('a word wider than the line is broken, between characters', () => {
  expect(wrapText('see abcdefghij', 4)).toEqual(['see', 'abcd', 'efgh', 'ij']);
  expect(wrapText('👩‍👧👩‍👧👩‍👧', 5)).toEqual(['👩‍👧👩‍👧', '👩‍👧']);
});

test('writing without blanks goes on in the same line', () => {
  expect(wrapText('go 日本語です', 8)).toEqual(['go 日本', '語です']);
});

test('looks stay with their words, and further lines can be indented', () => {
  const line: Line = [{ text: 'one ' }, { text: 'two three', bold: true }, { text: ' four' }];
  expect(wrapLine(line, 9, 2)).toEqual([
    [{ text: 'one ' }, { text: 'two', bold: true }],
    [{ text: '  ' }, { text: 'three', bold: true }],
    [{ text: '  ' }, { text: 'four' }],
  ]);
});

test('a cut text says that it is cut', () => {
  expect(cutText('abcdef', 6)).toBe('abcdef');
  expect(cutText('abcdefg', 6)).toBe('abcde…');
  expect(cutText('日本語', 4)).toBe('日…');
  expect(cutText('abcdefg', 6, '...')).toBe('abc...');
  expect(cutText('abc', 1)).toBe('…');
  expect(cutText('abc', 0)).toBe('');
  expect(cutMiddle('src/tui/text/wrap.ts', 11)).toBe('src/t…ap.ts');
  expect(
    cutLine(
      [
        { text: 'ab', bold: true },
        { text: 'cdef', dim: true },
      ],
      4,
    ),
  ).toEqual([
    { text: 'ab', bold: true },
    { text: 'c', dim: true },
    { text: '…', dim: true },
  ]);
});

test('the middle of a line of thousands of columns is counted, not shown', () => {
  const line = [{ text: `${'a'.repeat(1_500)}${'日'.repeat(1_234)}${'z'.repeat(300)}` }];
  expect(cutLongLine([{ text: 'a'.repeat(2_000) }])).toEqual([{ text: 'a'.repeat(2_000) }]);
  expect(cutLongLine(line)).toEqual([
    { text: 'a'.repeat(1_500) },
    { text: '… 1,234 characters …', dim: true },
    { text: 'z'.repeat(300) },
  ]);
});

const unit = fc.oneof(
  fc.constantFrom('a', 'bc', ' ', '  ', '日', '👩‍👧', 'e\u0301', '\n', '\x1b[31m', '\u202e'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
);
const text = fc.string({ unit, maxLength: 60 });

test('no line is wider than asked for, and no word is lost', () => {
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 8, max: 40 }),
      fc.integer({ min: 0, max: 2 }),
      (raw, width, indent) => {
        const lines = splitLines(visible(raw, 'prose').pieces);
        for (const line of lines) {
          const wrapped = wrapLine(line, width, indent).map(textOfLine);
          expect(wrapped.every((part) => displayWidth(part) <= width)).toBe(true);
          expect(wrapped.join('').replaceAll(' ', '')).toBe(textOfLine(line).replaceAll(' ', ''));
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

test('a cut text is as wide as it may be, of whole characters', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 40 }), (raw, width) => {
      const shown = visibleString(raw, 'proseLine');
      const whole = new Set(graphemes(shown).map((grapheme) => grapheme.text));
      for (const cut of [cutText(shown, width), cutMiddle(shown, width)]) {
        expect(displayWidth(cut)).toBeLessThanOrEqual(width);
        if (displayWidth(shown) > width)
          expect(displayWidth(cut)).toBeGreaterThanOrEqual(width - 4);
        for (const part of cut.split('…').flatMap((half) => graphemes(half)))
          expect(whole.has(part.text)).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});
