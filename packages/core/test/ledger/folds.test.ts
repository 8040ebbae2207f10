import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Event, type EventDraft, foldEvent } from '../../src/ledger/event.ts';
import { emptyInvocationTree, invocationFold } from '../../src/ledger/folds/invocation-fold.ts';
import { emptyLedgerState, stateFold } from '../../src/ledger/folds/state-fold.ts';

const path = fc.constantFrom('run', 'run/a', 'run/a/b', 'run/p', 'run/p/x', 'run/p/y', 'run/p/x>z');
const draft: fc.Arbitrary<EventDraft> = fc.oneof(
  fc.record({
    type: fc.constant('user' as const),
    by: fc.constant('user' as const),
    text: fc.string(),
  }),
  fc.record({
    type: fc.constant('invocation_start' as const),
    by: fc.constant('runtime' as const),
    invocationId: path,
    kind: fc.constant('step' as const),
    name: fc.constantFrom('a', 'b'),
    mode: fc.constant('child' as const),
    branch: fc.constant(true as const),
  }),
  fc.record({
    type: fc.constant('invocation_end' as const),
    by: fc.constant('runtime' as const),
    invocationId: path,
    status: fc.constantFrom('completed' as const, 'error' as const),
  }),
  fc.record({
    type: fc.constant('invocation_resume' as const),
    by: fc.constant('runtime' as const),
    invocationId: path,
  }),
  fc.record({
    type: fc.constant('state_change' as const),
    by: fc.constant('runtime' as const),
    invocationId: path,
    scope: fc.constantFrom('session', 'user'),
    source: fc.constant('mutation' as const),
    changes: fc.array(
      fc.record({
        key: fc.constantFrom('k', 'l'),
        newValue: fc.oneof(fc.integer(), fc.constant(undefined)),
      }),
      { maxLength: 2 },
    ),
  }),
);

function numbered(drafts: readonly EventDraft[]): readonly Event[] {
  return drafts.map((given, i) => ({ v: 1, seq: i + 1, id: `e${i}`, at: i, ...given }) as Event);
}

describe('folds', () => {
  test('the state after two stretches is that after both: earlier states stay as they were', () => {
    fc.assert(
      fc.property(fc.array(draft, { maxLength: 30 }), fc.nat(30), (drafts, cut) => {
        const events = numbered(drafts);
        const whole = events.reduce(
          (state, event) => foldEvent(stateFold, state, event),
          emptyLedgerState,
        );
        const before = events
          .slice(0, cut)
          .reduce((state, event) => foldEvent(stateFold, state, event), emptyLedgerState);
        const copy = structuredClone(before);
        const after = events
          .slice(cut)
          .reduce((state, event) => foldEvent(stateFold, state, event), before);
        expect(after).toEqual(whole);
        expect(before).toEqual(copy);
      }),
    );
  });

  test('the invocations after two stretches are those after both', () => {
    fc.assert(
      fc.property(fc.array(draft, { maxLength: 30 }), fc.nat(30), (drafts, cut) => {
        const events = numbered(drafts);
        const fold = (tree: ReturnType<typeof emptyInvocationTree>, part: readonly Event[]) =>
          part.reduce((state, event) => foldEvent(invocationFold, state, event), tree);
        const whole = fold(emptyInvocationTree(), events);
        const parts = fold(fold(emptyInvocationTree(), events.slice(0, cut)), events.slice(cut));
        expect(parts).toEqual(whole);
      }),
    );
  });
});
