import fc from 'fast-check';
import { expect, test } from 'vitest';
import { spansOf } from '../../../src/tui/text/spans.ts';
import { type Place, visible, visibleString } from '../../../src/tui/text/visible.ts';

const places: readonly Place[] = [
  'prose',
  'proseLine',
  'request',
  'requestLine',
  'output',
  'outputLine',
];

/** The escapes of a text, which are painted yellow. */
function escapes(text: string, where: Place): string[] {
  return visible(text, where).pieces.flatMap((piece) =>
    piece.mark === 'escape' ? [piece.text] : [],
  );
}

test.each([
  ['a colour', '\x1b[31m', '␛[31m'],
  ['a bell', '\x07', '␇'],
  ['a window title', '\x1b]0;owned\x07', '␛]0;owned␇'],
  ['a delete', '\x7f', '␡'],
  ['an 8-bit sequence', '\x9b2J', '⟨U+009B⟩2J'],
  ['a backspace and a carriage return', '\b\rx', '␈␍x'],
  ['an override of the direction', '\u202e', '⟨U+202E⟩'],
  ['isolates and marks of the direction', '\u2066\u200e\u061c', '⟨U+2066⟩⟨U+200E⟩⟨U+061C⟩'],
  ['zero width', '\u200b\u2060\ufeff', '⟨U+200B⟩⟨U+2060⟩⟨U+FEFF⟩'],
  ['a soft hyphen and a grapheme joiner', '\u00ad\u034f', '⟨U+00AD⟩⟨U+034F⟩'],
  ['fillers', '\u115f\u1160\u3164\uffa0', '⟨U+115F⟩⟨U+1160⟩⟨U+3164⟩⟨U+FFA0⟩'],
  ['vowels without a look', '\u17b4\u17b5', '⟨U+17B4⟩⟨U+17B5⟩'],
  ['selectors of variants', '\u180b\ufe00\ufe0e', '⟨U+180B⟩⟨U+FE00⟩⟨U+FE0E⟩'],
  ['separators of lines', '\u2028\u2029', '⟨U+2028⟩⟨U+2029⟩'],
  ['the empty Braille pattern', '\u2800', '⟨U+2800⟩'],
  ['annotations', '\ufff9\ufffb', '⟨U+FFF9⟩⟨U+FFFB⟩'],
  ['tags', '\u{e0041}\u{e0fff}', '⟨U+E0041⟩⟨U+E0FFF⟩'],
  ['a lone surrogate', '\ud83d', '⟨U+D83D⟩'],
])('%s is written out, and yellow', (_, hostile, shown) => {
  for (const where of ['prose', 'proseLine', 'request', 'requestLine'] as const) {
    expect(visibleString(`a${hostile}b`, where)).toBe(`a${shown}b`);
    expect(escapes(`a${hostile}b`, where).join('')).toBe(
      (shown.match(/[␀-␡]|⟨[^⟩]*⟩/gu) ?? []).join(''),
    );
  }
});

test('an escape that the text only imitates is not yellow', () => {
  expect(spansOf(visible('␛ ⟨U+202E⟩ \u202e', 'request').pieces, { bold: true })).toEqual([
    { text: '␛ ⟨U+202E⟩ ', bold: true },
    { text: '⟨U+202E⟩', bold: true, color: 'yellow' },
  ]);
});

test('colours are left out of the output of tools, and counted; nothing else is', () => {
  expect(visible('\x1b[1;31mFAIL\x1b[0m \x9b4:3mx\x1b[2J', 'output')).toEqual({
    pieces: [{ text: 'FAIL x' }, { text: '␛', mark: 'escape' }, { text: '[2J' }],
    leftOut: 3,
  });
  // A sequence that appears when another one is left out is no sequence any more.
  expect(visibleString('\x1b\x1b[m[31mx', 'output')).toBe('␛[31mx');
});

test('output of tools shows the last state of a line that `\\r` wrote over', () => {
  expect(visibleString('10 %\r50 %\r100 %\r\ndone\r', 'output')).toBe('100 %\ndone');
  expect(visibleString('10 %\r\x1b[32m20 %\x1b[0m\nnext', 'outputLine')).toBe('20 %⏎next');
});

test('emoji and writings that need joiners are whole in prose', () => {
  const text = '👩‍👧 ❤️‍🔥 1️⃣ 👩🏽‍❤️‍💋‍👨🏿 می‌خواهم क्‍ष é';
  expect(visibleString(text, 'prose')).toBe(text);
  expect(visibleString(text, 'proseLine')).toBe(text);
});

test('a request keeps no joiner and no selector', () => {
  expect(visibleString('❤️ 👩‍👧 می‌خواهم', 'request')).toBe('❤⟨U+FE0F⟩ 👩⟨U+200D⟩👧 می⟨U+200C⟩خواهم');
});

test('joiners outside emoji and such writings are written out', () => {
  expect(visibleString('a\u200db \u200d👩 می\u200c\u200cx 1\ufe0f', 'prose')).toBe(
    'a⟨U+200D⟩b ⟨U+200D⟩👩 می⟨U+200C⟩⟨U+200C⟩x 1⟨U+FE0F⟩',
  );
});

test('of more than four combining marks the rest is counted', () => {
  const mark = '\u0301';
  expect(visibleString(`e${mark.repeat(4)}`, 'prose')).toBe(`e${mark.repeat(4)}`);
  expect(visibleString(`e${mark.repeat(16)}`, 'prose')).toBe(`e${mark.repeat(4)}⟨+12 marks⟩`);
  expect(visibleString(`e${mark.repeat(5)}`, 'prose')).toBe(`e${mark.repeat(4)}⟨+1 mark⟩`);
});

test('a mark without a character before it does not change what the app wrote', () => {
  expect(visibleString('\u0301a\n\u0301\x07\u0301', 'prose')).toBe('⟨U+0301⟩a\n⟨U+0301⟩␇⟨U+0301⟩');
  expect(visibleString('\u0301'.repeat(9), 'prose')).toBe('⟨+9 marks⟩');
});

test('line breaks are shown in places of one line, whatever system they come from', () => {
  expect(visibleString('a\r\nb\nc', 'request')).toBe('a\nb\nc');
  expect(visible('a\r\nb', 'requestLine').pieces).toEqual([
    { text: 'a' },
    { text: '⏎', mark: 'break' },
    { text: 'b' },
  ]);
});

test('tabs are blanks up to the next stop', () => {
  expect(visibleString('日\tb\n\tc', 'prose')).toBe('日  b\n    c');
  expect(visibleString('ab\tc', 'output')).toBe('ab      c');
  expect(visibleString('ab\tc', 'outputLine')).toBe('ab c');
});

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\x1b', '[', '31', 'm', ']8;;', '\x07', '\x9b', '\n', '\t', '\r', '\r\n', 'a'),
    fc.constantFrom('\u202e', '\u2800', '\u0301', '\u200d', '\u200c', '\ufe0f', '\u20e3', '\u034f'),
    fc.constantFrom(
      '👩',
      '👩'.slice(1),
      '👩'.slice(0, 1),
      '❤',
      '日',
      'م',
      'क',
      '्',
      '1',
      '\u{e0041}',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 40,
});

test('no place lets a character through that a terminal obeys or does not show', () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom(...places), (text, where) => {
      const shown = visibleString(text, where);
      expect(shown).not.toMatch(where.endsWith('Line') ? /\p{Cc}/u : /(?!\n)\p{Cc}/u);
      expect(shown).not.toMatch(/[\p{Bidi_Control}\p{Cs}\p{Zl}\p{Zp}\u00ad\u200b\u2800\ufeff]/u);
      expect(shown).not.toMatch(/[\u{e0000}-\u{e0fff}]|\p{M}{5}|^\p{M}|\n\p{M}/u);
      if (!where.startsWith('prose'))
        expect(shown).not.toMatch(/\p{Default_Ignorable_Code_Point}/u);
    }),
    { numRuns: 1_000 },
  );
});

test('a joiner stays only beside a letter that is shown', () => {
  expect(visibleString('क\u094d\u200dष', 'prose')).toBe('क\u094d\u200dष');
  expect(visibleString('\u094d\u200d\u094d', 'prose')).toBe('⟨U+094D⟩⟨U+200D⟩⟨U+094D⟩');
});

test('what is visible stays as it is', () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom(...places), (text, where) => {
      const shown = visibleString(text, where);
      expect(visible(shown, where).leftOut).toBe(0);
      expect(visibleString(shown, where)).toBe(shown);
    }),
    { numRuns: 1_000 },
  );
});

test('a long hostile text takes a moment, not minutes', () => {
  const pattern = '\t\u0301\u202e\x1b[31m日a\u200d';
  const shown = visibleString(pattern.repeat(5_000), 'request');
  expect(shown.length).toBeGreaterThan(5_000 * pattern.length);
});
