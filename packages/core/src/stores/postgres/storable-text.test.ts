import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromStorable, toStorable } from './storable-text.ts';

/** Texts of what makes trouble, mixed with what does not. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('\0', '\\', '0', 'd', '8', '\ud83d', '\udc4b', 'é') }),
);

test('what is stored can be stored, and is the same when it is read', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = toStorable(text);
      expect(stored).not.toContain('\0');
      expect(stored.isWellFormed()).toBe(true);
      expect(fromStorable(stored)).toBe(text);
    }),
  );
});

test('an ordinary text is stored as it is', () => {
  for (const text of ['', 'session-1', 'Grüße 👋', "it's"]) expect(toStorable(text)).toBe(text);
});
