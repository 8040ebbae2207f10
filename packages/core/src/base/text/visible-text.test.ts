import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visibleJson, visibleLine, visibleText } from './visible-text.ts';

test.each([
  ['Pay 5 €\n\tto Ann', 'Pay 5 €\n\tto Ann'],
  ['invoice\u202efdp.exe', 'invoice\\u202efdp.exe'],
  ['pay\u200b\u00ad\ufeffpal', 'pay\\u200b\\u00ad\\ufeffpal'],
  ['a\u0000b\u001b[2Jc\rd', 'a\\u0000b\\u001b[2Jc\\u000dd'],
  ['x\u{e0041}y', 'x\\u{e0041}y'],
  ['\ud800', '\\ud800'],
  ['1\u28000', '1\\u28000'],
  ['1\u034f0\ufe0e0', '1\\u034f0\\ufe0e0'],
  ['a\u2028b\u2029c\u180bd\u{e0101}', 'a\\u2028b\\u2029c\\u180bd\\u{e0101}'],
  ['a\u200db\ufe0f🙂\u200d', 'a\\u200db\\ufe0f🙂\\u200d'],
  ['日本語 العربية 🙂 👩🏽‍👧 ❤️‍🔥 1️⃣ ✔️', '日本語 العربية 🙂 👩🏽‍👧 ❤️‍🔥 1️⃣ ✔️'],
])('%j is shown as %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

/** With the parts of hostile texts more often than chance would have them. */
const hostile = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom('\u001b', '\u009b', '\u200b', '\u2800', '\ufe00', '\n', 'a'),
  ),
});
const isHidden =
  /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/u;

test('nothing that hides stays, and nothing that is seen is lost', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = visibleText(text);
      if (!/\p{Extended_Pictographic}|\u20e3/u.test(text)) expect(shown).not.toMatch(isHidden);
      const read = shown.replaceAll(/\\u(?:\{([0-9a-f]+)\}|([0-9a-f]{4}))/g, (_all, long, short) =>
        String.fromCodePoint(Number.parseInt(long ?? short, 16)),
      );
      if (!text.includes('\\u')) expect(read).toBe(text);
    }),
  );
});

test('a line has no line feeds and no tabs', () => {
  expect(visibleLine('a\nb\tc\u202e')).toBe('a\\nb\\tc\\u202e');
});

test('JSON is the same value, without a character that hides', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), hostile, (value, text) => {
      const json = visibleJson({ value, [text]: text });
      expect(json).not.toMatch(isHidden);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ value, [text]: text })));
    }),
  );
  expect(visibleJson({ a: '\u{e0041}\u009b' }, 2)).toBe('{\n  "a": "\\udb40\\udc41\\u009b"\n}');
});
