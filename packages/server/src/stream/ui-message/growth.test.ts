import fc from 'fast-check';
import { expect, test } from 'vitest';
import { additionTo, type Growth, grown } from './growth.ts';

test('a text grows by what was added, from whichever state it goes on', () => {
  const steps = fc.array(fc.record({ from: fc.nat(), piece: fc.string({ maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(steps, (taken) => {
      const states: {
        readonly growth: Growth | undefined;
        readonly text: string;
        readonly before: number;
      }[] = [{ growth: undefined, text: '', before: 0 }];
      for (const { from, piece } of taken) {
        const before = from % states.length;
        const { growth, text } = states[before] ?? { growth: undefined, text: '' };
        states.push({ growth: grown(growth, piece), text: text + piece, before });
      }
      for (const { growth, text } of states) {
        expect(growth?.pieces.slice(0, growth.count).join('') ?? '').toBe(text);
        for (const other of states) {
          const addition = additionTo(growth, other.growth);
          if (addition !== undefined) expect(text + addition).toBe(other.text);
        }
      }
    }),
  );
});

test('one state after the other needs no comparison', () => {
  const first = grown(undefined, 'a');
  const third = grown(grown(first, 'b'), 'c');
  expect(additionTo(first, third)).toBe('bc');
  expect(additionTo(third, first)).toBeUndefined();
});
