import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Columns } from '../../ledger/columns.ts';
import { align, differing, sharedEvents } from './alignment.ts';

interface Made {
  readonly type: string;
  readonly at: number;
}

function columnsOf(events: readonly Made[]): Columns {
  const types = [...new Set(events.map(({ type }) => type))];
  const columns = new Columns();
  columns.add({
    after: 0,
    types,
    agents: [],
    names: [],
    invocations: [],
    columns: {
      at: events.map(({ at }) => at),
      type: events.map(({ type }) => types.indexOf(type)),
      invocation: events.map(() => -1),
      agent: events.map(() => -1),
      name: events.map(() => -1),
      start: events.map(() => 0),
      flags: events.map(() => 0),
    },
  });
  return columns;
}

const events = fc.array(
  fc.record({
    type: fc.constantFrom('user', 'model_start', 'model_end', 'tool_call'),
    at: fc.nat(1_000),
  }),
  { maxLength: 40 },
);

test('each event of both sides stands in one row, in its order, and pairs are of one type', () => {
  fc.assert(
    fc.property(events, events, events, (shared, left, right) => {
      const [one, other] = [columnsOf([...shared, ...left]), columnsOf([...shared, ...right])];
      const common = sharedEvents(one, other);
      expect(common).toBeGreaterThanOrEqual(shared.length);
      const rows = align(one, other, common);
      const numbers = (columns: Columns) =>
        Array.from({ length: columns.count - common }, (_, i) => common + i + 1);
      const of = (side: 'left' | 'right') =>
        rows.map((row) => row[side]).filter((seq) => seq !== undefined);
      expect(of('left')).toEqual(numbers(one));
      expect(of('right')).toEqual(numbers(other));
      for (const { left: a, right: b } of rows)
        if (a !== undefined && b !== undefined) expect(one.typeAt(a)).toBe(other.typeAt(b));
    }),
  );
});

test('a fork and its origin share the events before it', () => {
  const shared = [1, 2, 3].map((at) => ({ type: 'user', at }));
  const origin = columnsOf([...shared, { type: 'user', at: 4 }]);
  const fork = columnsOf([...shared, { type: 'decision', at: 9 }]);
  expect(sharedEvents(origin, fork)).toBe(3);
  expect(align(origin, fork, 3)).toEqual([
    { left: 4, right: undefined },
    { left: undefined, right: 4 },
  ]);
});

test('parts of a text are the text, and what differs is not in both', () => {
  fc.assert(
    fc.property(
      fc.array(fc.lorem({ maxCount: 1 })),
      fc.array(fc.lorem({ maxCount: 1 })),
      (a, b) => {
        const [text, other] = [a.join(' '), b.join(' ')];
        const { before, differs, after } = differing(text, other);
        expect(before + differs + after).toBe(text);
        expect(other.startsWith(before)).toBe(true);
        expect(other.endsWith(after)).toBe(true);
        if (text === other) expect(differs).toBe('');
      },
    ),
  );
});
