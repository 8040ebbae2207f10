import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ancestorsOf,
  belongsTo,
  childPath,
  handoffPath,
  isBelow,
  isRoot,
  isRootOf,
  isWithin,
  lastPartOf,
  parentOf,
  predecessorOf,
  rootOf,
  slotOf,
} from '../../src/ledger/path.ts';

/** One part of a path: a key or name, then the names of its handoffs. */
interface Part {
  readonly key: string;
  readonly handoffs: readonly string[];
}

const name = fc.stringMatching(/^[a-z][a-z0-9.#~ é]{0,5}$/);
const part: fc.Arbitrary<Part> = fc.record({
  key: name,
  handoffs: fc.array(name, { maxLength: 3 }),
});
const parts = fc.array(part, { minLength: 1, maxLength: 5 });

function textOf({ key, handoffs }: Part): string {
  return [key, ...handoffs].join('>');
}

function pathOf(of: readonly Part[]): string {
  return of.map(textOf).join('/');
}

describe('a path of any parts', () => {
  test('is taken apart into those parts', () => {
    fc.assert(
      fc.property(parts, (of) => {
        const path = pathOf(of);
        const last = of.at(-1) as Part;
        const above = pathOf(of.slice(0, -1));
        expect(rootOf(path)).toBe(of[0]?.key);
        expect(parentOf(path)).toBe(above);
        expect(lastPartOf(path)).toBe(textOf(last));
        expect(slotOf(path)).toBe(above === '' ? last.key : childPath(above, last.key));
        expect(ancestorsOf(path)).toEqual(
          of
            .slice(0, -1)
            .map((_, index) => pathOf(of.slice(0, index + 1)))
            .reverse(),
        );
        expect(isRoot(path)).toBe(of.length === 1);
        expect(isRootOf(path, of[0]?.key ?? '')).toBe(of.length === 1);
      }),
    );
  });

  test('is what its children and handoffs are made from', () => {
    fc.assert(
      fc.property(parts, name, (of, other) => {
        const path = pathOf(of);
        const child = childPath(path, other);
        const handoff = handoffPath(path, other);
        expect(parentOf(child)).toBe(path);
        expect(predecessorOf(child)).toBeUndefined();
        expect(predecessorOf(handoff)).toBe(path);
        expect(slotOf(handoff)).toBe(slotOf(path));
        expect(parentOf(handoff)).toBe(parentOf(path));
        expect([isBelow(child, path), isBelow(handoff, path), isBelow(path, path)]).toEqual([
          true,
          false,
          false,
        ]);
        expect([isWithin(child, path), isWithin(handoff, path), isWithin(path, path)]).toEqual([
          true,
          false,
          true,
        ]);
        expect([
          belongsTo(child, path),
          belongsTo(handoff, path),
          belongsTo(childPath(handoff, other), path),
        ]).toEqual([true, true, true]);
      }),
    );
  });
});

test('a name that begins like another one is not below it', () => {
  expect([isBelow('run/agents/r1.0', 'run/agent'), isWithin('run/agents', 'run/agent')]).toEqual([
    false,
    false,
  ]);
  expect([belongsTo('run2', 'run'), isRootOf('run2>a', 'run')]).toEqual([false, false]);
});

test('a handoff below the root is not at the root', () => {
  expect([isRootOf('run>next', 'run'), isRootOf('run/agent>next', 'run')]).toEqual([true, false]);
  expect(rootOf('run>next/r1.0')).toBe('run');
});
