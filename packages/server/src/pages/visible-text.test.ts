import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visibleText } from './visible-text.ts';

test.each([
  ['Pay 5 €\n\tto Ann', 'Pay 5 €\n\tto Ann'],
  ['invoice\u202efdp.exe', 'invoice\\u202efdp.exe'],
  ['pay\u200b\u00ad\ufeffpal', 'pay\\u200b\\u00ad\\ufeffpal'],
  ['a\u0000b\u001b[2Jc\rd', 'a\\u0000b\\u001b[2Jc\\u000dd'],
  ['x\u{e0041}y', 'x\\u{e0041}y'],
  ['\ud800', '\\ud800'],
  ['日本語 العربية 🙂', '日本語 العربية 🙂'],
])('%j is shown as %j', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test('nothing that hides stays, and nothing that is seen is lost', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const shown = visibleText(text);
      expect(shown).not.toMatch(/[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      const read = shown.replaceAll(/\\u(?:\{([0-9a-f]+)\}|([0-9a-f]{4}))/g, (_all, long, short) =>
        String.fromCodePoint(Number.parseInt(long ?? short, 16)),
      );
      if (!text.includes('\\u')) expect(read).toBe(text);
    }),
  );
});
