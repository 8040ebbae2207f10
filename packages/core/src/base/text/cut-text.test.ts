import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutPlace, cutText } from './cut-text.ts';

test('a cut never parts a character, and leaves out as little as it can', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, length) => {
      const cut = cutText(text, length);
      expect(cut.isWellFormed()).toBe(true);
      expect(text.startsWith(cut)).toBe(true);
      const whole = text.slice(0, length);
      expect(cut).toBe(whole.isWellFormed() ? whole : whole.slice(0, -1));
      expect(cutPlace(text, length)).toBe(length <= text.length ? cut.length : length);
    }),
  );
});

test('half a character that was there before is left where it is', () => {
  expect(cutText('\ud83dabc', 1)).toBe('\ud83d');
  expect(cutText('a\ude00b', 1)).toBe('a');
  expect(cutText('a😀', 2)).toBe('a');
});
