import { VisibleTextStream } from 'adjutant/text';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainLine, plainText } from '../../src/output/plain-text.ts';

const commands = {
  'a colour': ['\x1b[31m', '\\u001b[31m'],
  'a window title': ['\x1b]0;owned\x07', '\\u001b]0;owned\\u0007'],
  'a link, ended by ESC \\': ['\x1b]8;;http://evil\x1b\\', '\\u001b]8;;http://evil\\u001b\\'],
  'an 8-bit sequence': ['\x9b2J', '\\u009b2J'],
  'a full reset': ['\x1bc', '\\u001bc'],
  'a bell, a backspace and a carriage return': ['\x07\b\r', '\\u0007\\u0008\\u000d'],
  'an override of the direction': ['\u202e', '\\u202e'],
  'a mark of direction, a space without width and a tag': [
    '\u200e\u061c\u200b\u{e0041}',
    '\\u200e\\u061c\\u200b\\u{e0041}',
  ],
  'separators of lines': ['\u2028\u2029', '\\u2028\\u2029'],
} as const;

/** Gives the output for a text that comes in pieces. */
function streamed(pieces: readonly string[]): string {
  const stream = new VisibleTextStream();
  return pieces.map((piece) => stream.push(piece)).join('') + stream.end();
}

test.each(Object.entries(commands))(
  '%s is written out, however it is cut',
  (_, [command, shown]) => {
    const text = `before ${command}after`;
    expect(plainText(text)).toBe(`before ${shown}after`);
    for (let cut = 0; cut <= text.length; cut++)
      expect(streamed([text.slice(0, cut), text.slice(cut)])).toBe(`before ${shown}after`);
  },
);

test(
  'newlines, tabs, emoji and other writing stay; the ends of lines of other systems are ' +
    'newlines',
  () => {
    const text = 'a\tb\n日本語 👩‍👧 ❤️‍🔥 1️⃣ é שלום';
    expect(plainText(text)).toBe(text);
    expect(plainText('a\r\nb')).toBe('a\nb');
    for (let cut = 0; cut <= text.length; cut++)
      expect(streamed([text.slice(0, cut), text.slice(cut)])).toBe(text);
  },
);

const hostile = fc.string({
  unit: fc.constantFrom(
    '\x1b',
    '[',
    ']',
    '\x07',
    '\x9b',
    '3',
    'm',
    '\n',
    '\t',
    '\r',
    '\u202e',
    '\u2800',
    'a',
    '日',
    '❤',
    '\ufe0f',
    '\u200d',
    '\u20e3',
    '👩',
    '👩'.slice(1),
  ),
});

test('no text has a character left that a terminal obeys, but newline and tab', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(plainText(text)).not.toMatch(/[^\P{Cc}\n\t]|[\u2800\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});

test('a text cut anywhere gives what it gives whole', () => {
  fc.assert(
    fc.property(fc.array(hostile), (parts) => {
      expect(streamed(parts)).toBe(plainText(parts.join('')));
    }),
    { numRuns: 2_000 },
  );
});

test('plainLine makes one line', () => {
  expect(plainLine(' one\n\ttwo \r\n three ')).toBe('one two three');
});
