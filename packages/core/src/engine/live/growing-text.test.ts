import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingText } from './growing-text.ts';

test('whatever it is made of, it reads as the text of its parts does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 4 }), { minLength: 1 }),
      fc.nat(),
      ([first = '', ...others], seed) => {
        const growing = new GrowingText(first);
        let text = first;
        for (const part of others) {
          growing.append(part);
          text += part;
          const offset = seed % (text.length + 1);
          expect(growing.from(offset)).toBe(text.slice(offset));
        }
        expect(growing.length).toBe(text.length);
        expect(growing.from(0)).toBe(text);
        expect(growing.from(text.length)).toBe('');
      },
    ),
  );
});
