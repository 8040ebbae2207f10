import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../../../src/base/hash.ts';
import { findReferences, replaceReferences } from '../../../src/ledger/blobs/blob.ts';
import { recordable } from '../../../src/ledger/blobs/large-values.ts';
import type { EventDraft } from '../../../src/ledger/event.ts';

const threshold = 64 * 1024;
const address = (bytes: Uint8Array): string => sha256(Buffer.from(bytes).toString());
const inputOf = (input: unknown) =>
  ({ type: 'tool_input', by: 'ann', input }) as unknown as EventDraft;

/** Records a value and reads it back. */
function recorded(value: unknown) {
  const { draft, large } = recordable(inputOf(value), address);
  const kept = new Map(large.map(({ address: name, value: whole }) => [name, whole]));
  const { input } = replaceReferences(draft, ({ $blob }) => kept.get($blob)) as { input: unknown };
  const referredTo: string[] = [];
  findReferences(draft, ({ $blob }) => void referredTo.push($blob));
  return {
    draft,
    large,
    back: input,
    referredTo,
    stored: large.reduce((sum, { bytes }) => sum + bytes.length, 0),
  };
}

const nested = (depth: number, size: number): unknown => {
  let value: unknown = { b: 'x'.repeat(size) };
  for (let level = 1; level < depth; level++)
    value = { a: value, b: String.fromCharCode(97 + (level % 26)).repeat(size) };
  return value;
};

test.each([
  { depth: 100, size: 30_000 },
  { depth: 1_000, size: 3_000 },
  { depth: 60, size: 70_000 },
])(
  'A5: a value nested $depth deep is stored once, and not once for each level',
  ({ depth, size }) => {
    const value = nested(depth, size);
    const { back, stored, referredTo, large } = recorded(value);
    expect(back).toEqual(value);
    expect(stored).toBeLessThanOrEqual(JSON.stringify(value).length * 1.1);
    expect(new Set(referredTo)).toEqual(new Set(large.map(({ address: name }) => name)));
  },
);

test(
  'A5: whatever is recorded comes back, nothing is stored twice, and nothing is stored that ' +
    'no event refers to',
  () => {
    const text = fc
      .tuple(
        fc.constantFrom('x', '"', 'é', '漢', '\u0001'),
        fc.constantFrom(1, 50, 9_000, 25_000, 40_000, 70_000),
      )
      .map(([c, n]) => c.repeat(n));
    const { value: values } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'large', withCrossShrink: true },
        text,
        fc.integer(),
        fc.constant(null),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value'), { maxLength: 5 }),
      object: fc.dictionary(fc.string({ maxLength: 4 }), tie('value'), { maxKeys: 5 }),
    }));
    fc.assert(
      fc.property(values, (value) => {
        const { draft, back, stored, referredTo, large } = recorded(value);
        expect(back).toEqual(value);
        expect(stored).toBeLessThanOrEqual(Buffer.byteLength(JSON.stringify(value)) + 2);
        expect([...referredTo].sort()).toEqual(large.map(({ address: name }) => name).sort());
        const isWhole = large.length === 0;
        if (isWhole)
          expect(
            Buffer.byteLength(JSON.stringify((draft as { input: unknown }).input)),
          ).toBeLessThanOrEqual(threshold * 2);
      }),
      { numRuns: 150 },
    );
  },
);
