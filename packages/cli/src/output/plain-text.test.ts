import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PlainTextStream, plainLine, plainText } from './plain-text.ts';

const commands = {
  'a colour': '\x1b[31m',
  'a window title': '\x1b]0;owned\x07',
  'a link, ended by ESC \\': '\x1b]8;;http://evil\x1b\\',
  'an 8-bit sequence': '\x9b2J',
  'an 8-bit control string': '\x9d0;owned\x9c',
  'a device control string': '\x1bPq#0\x1b\\',
  'a character set': '\x1b(0',
  'a full reset': '\x1bc',
  'a bell, a backspace and a carriage return': '\x07\b\r',
  'an override of the direction': '\u202e',
};

test.each(Object.entries(commands))('%s is taken out, however it is cut', (_, command) => {
  const text = `before ${command}after`;
  expect(plainText(text)).toBe('before after');
  for (let cut = 0; cut <= text.length; cut++) {
    const stream = new PlainTextStream();
    expect(stream.push(text.slice(0, cut)) + stream.push(text.slice(cut))).toBe('before after');
  }
});

test('newlines, tabs, emoji and other writing stay', () => {
  const text = 'a\tb\n日本語 👩‍👧 é שלום';
  expect(plainText(text)).toBe(text);
});

test('a control string without an end does not swallow what follows', () => {
  expect(plainText('\x1b]0;title\nnext line')).toBe('\nnext line');
  expect(plainText(`\x1b]0;${'x'.repeat(2_000)}END`)).toContain('END');
});

test('no text has a control character left but newline and tab', () => {
  const hostile = fc.string({
    unit: fc.constantFrom('\x1b', '[', ']', '\x07', '\x9b', '\x9c', '\\', '3', 'm', ';', '\n', '\t', '\r', '\u202e', 'a', '日'),
  });
  fc.assert(
    fc.property(hostile, (text) => {
      expect(plainText(text)).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});

test('a text cut anywhere gives what it gives whole', () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('\x1b', '[', ']', '\x07', '0', 'm', '\\', '\n', 'a') }));
  fc.assert(
    fc.property(pieces, (parts) => {
      const stream = new PlainTextStream();
      expect(parts.map((part) => stream.push(part)).join('')).toBe(plainText(parts.join('')));
    }),
  );
});

test('plainLine makes one line', () => {
  expect(plainLine(' one\n\ttwo\x1b[0m \r\n three ')).toBe('one two three');
});
