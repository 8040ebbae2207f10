import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visibleString } from '../../../src/tui/text/visible.ts';
import { displayWidth, graphemes } from '../../../src/tui/text/width.ts';

test.each([
  ['abc', 3],
  ['', 0],
  ['日本', 4],
  ['e\u0301', 1],
  ['👩‍👧', 2],
  ['❤️', 2],
  ['1️⃣', 2],
  ['한', 2],
  ['ｶﾞ', 2],
  ['…│›', 3],
])('%s takes %i columns', (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test('an emoji of several signs is one character', () => {
  expect(graphemes('a👩‍👧e\u0301')).toEqual([
    { text: 'a', width: 1 },
    { text: '👩‍👧', width: 2 },
    { text: 'e\u0301', width: 1 },
  ]);
});

test('Ink lays out by the same widths', async () => {
  const ofInk = createRequire(import.meta.resolve('ink')).resolve('string-width');
  const { default: stringWidth } = (await import(pathToFileURL(ofInk).href)) as {
    readonly default: (text: string) => number;
  };
  const unit = fc.oneof(
    fc.constantFrom('\u1100', '\u1161', '\u11a8', '각', 'ﾞ', '\u200d', '👩', '🏽', '\ufe0f', '🇩'),
    fc.constantFrom('क', '्', 'ि', '1', '\u20e3', '\u0301', '日', 'a', '©', 'é', '–', '⌚'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 20 }), (text) => {
      const shown = visibleString(text, 'proseLine');
      expect(displayWidth(shown)).toBe(stringWidth(shown));
    }),
    { numRuns: 300 },
  );
});
