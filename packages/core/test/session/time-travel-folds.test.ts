import { readFileSync } from 'node:fs';
import { type Event, type Fold, foldEvent } from 'adjutant';
import { canonicalJson } from 'adjutant/text';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentHash } from '../../src/base/hash.ts';
import { eventVersions } from '../../src/ledger/event.ts';
import { effectFold, noOpenEffects } from '../../src/ledger/folds/effect-fold.ts';
import { emptyInvocationTree, invocationFold } from '../../src/ledger/folds/invocation-fold.ts';
import { type PendingRequests, requestFold } from '../../src/ledger/folds/request-fold.ts';
import { StateAccumulator } from '../../src/ledger/folds/state-accumulator.ts';
import { emptyLedgerState, stateFold } from '../../src/ledger/folds/state-fold.ts';
import { sessionStatus } from '../../src/ledger/status.ts';
import { decodeEvent } from '../../src/ledger/upcast.ts';
import { startPosition } from '../../src/loop/position.ts';
import { concerns, positionFold } from '../../src/loop/position-fold.ts';
import { pointSnapshotKey } from '../../src/session/snapshot-key.ts';
import { snapshotOf } from '../../src/session/time-travel.ts';
import {
  foldPoint,
  type LedgerPoint,
  pointFoldVersion,
  pointFromJson,
  pointToJson,
  startPoint,
} from '../../src/session/time-travel-fold.ts';
import { arbitraryLedger } from '../arbitrary-ledger.ts';

function folded<State>(fold: Fold<State>, start: State, events: readonly Event[]): State {
  return events.reduce((state, event) => foldEvent(fold, state, event), start);
}

const asRecorded = (value: unknown): unknown => value;
const ledgerAndCut = arbitraryLedger().chain((events) =>
  fc.tuple(fc.constant(events), fc.nat(events.length)),
);

/** Checks that a fold can go on from its stored result for a beginning. */
function expectAssociative<State>(
  fold: Fold<State>,
  start: () => State,
  events: readonly Event[],
  cut: number,
): void {
  const beginning = folded(fold, start(), events.slice(0, cut));
  // A copy: what the fold gave must hold all that it needs.
  const whole = folded(fold, structuredClone(beginning), events.slice(cut));
  expect(whole).toEqual(folded(fold, start(), events));
}

describe('fold(a ++ b) = fold(b, from fold(a)) for', () => {
  test('state, which leaves what it started from as it was', () => {
    fc.assert(
      fc.property(ledgerAndCut, ([events, cut]) => {
        expectAssociative(stateFold, () => emptyLedgerState, events, cut);
        const beginning = folded(stateFold, emptyLedgerState, events.slice(0, cut));
        const before = structuredClone(beginning);
        folded(stateFold, beginning, events.slice(cut));
        expect(beginning).toEqual(before);
      }),
    );
  });

  test('invocations', () => {
    fc.assert(
      fc.property(ledgerAndCut, ([events, cut]) =>
        expectAssociative(invocationFold, emptyInvocationTree, events, cut),
      ),
    );
  });

  test('effects', () => {
    fc.assert(
      fc.property(ledgerAndCut, ([events, cut]) =>
        expectAssociative(effectFold, noOpenEffects, events, cut),
      ),
    );
  });

  test('requests', () => {
    fc.assert(
      fc.property(ledgerAndCut, ([events, cut]) =>
        expectAssociative<PendingRequests>(requestFold, () => new Map(), events, cut),
      ),
    );
  });

  test('the position of every agent', () => {
    fc.assert(
      fc.property(ledgerAndCut, ([events, cut]) => {
        for (const { type, invocationId: path = '' } of events) {
          if (type !== 'invocation_start') continue;
          const fold = (list: readonly Event[], start = startPosition(path)) => {
            for (const event of list)
              if (concerns(start, event)) foldEvent(positionFold, start, event);
            return start;
          };
          expect(fold(events.slice(cut), structuredClone(fold(events.slice(0, cut))))).toEqual(
            fold(events),
          );
        }
      }),
    );
  });

  test('points, also through what is stored of them', () => {
    fc.assert(
      fc.property(ledgerAndCut, ([events, cut]) => {
        const beginning = events.slice(0, cut).reduce(foldPoint, startPoint());
        const stored = JSON.parse(JSON.stringify(pointToJson(beginning)));
        const continued = events.slice(cut).reduce(foldPoint, pointFromJson(stored, cut));
        const whole = events.reduce(foldPoint, startPoint());
        expect(snapshotOf(continued, asRecorded)).toEqual(snapshotOf(whole, asRecorded));
        expect(pointToJson(continued)).toEqual(pointToJson(whole));
      }),
    );
  });
});

test('a point agrees with the folds that the engine goes by, at every event', () => {
  fc.assert(
    fc.property(arbitraryLedger(), (events) => {
      const point = startPoint();
      const accumulated = new StateAccumulator();
      const tree = emptyInvocationTree();
      let state = emptyLedgerState;
      for (const event of events) {
        foldPoint(point, event);
        accumulated.add(event);
        foldEvent(invocationFold, tree, event);
        state = foldEvent(stateFold, state, event);
        // Not looked at after every event, so that stretches of changes occur.
        if (event.seq % 3 === 0) expect(accumulated.current).toEqual(state);
        const { status, invocationTree } = snapshotOf(point, asRecorded);
        expect(status).toBe(sessionStatus({ invocations: tree }));
        expect(invocationTree.map(({ invocationId }) => invocationId)).toEqual(tree.roots);
        for (const [path, record] of tree.byPath)
          expect(point.byPath.get(path)).toMatchObject({
            status: record.status,
            mode: record.mode,
          });
      }
      expect(accumulated.current).toEqual(state);
      expect(point.state.current).toEqual(state);
    }),
    { numRuns: 50 },
  );
});

interface GoldenLedger {
  readonly name: string;
  readonly events: readonly Event[];
  /** Hash of what is stored of the point after all events, by version of the fold. */
  readonly points: Readonly<Record<string, string>>;
}

const golden = JSON.parse(
  readFileSync(new URL('../fixtures/ledgers/golden-ledgers.json', import.meta.url), 'utf8'),
) as readonly GoldenLedger[];

/** Hash of the stored point at every event: a change anywhere in between counts as well. */
function hashOfPoints(events: readonly Event[]): string {
  const point: LedgerPoint = startPoint();
  return contentHash(
    events.map((event) =>
      contentHash(pointToJson(foldPoint(point, decodeEvent(structuredClone(event), 'golden')))),
    ),
  );
}

describe('golden ledgers', () => {
  test('have every event type', () => {
    const types = new Set(golden.flatMap(({ events }) => events.map(({ type }) => type)));
    expect([...types].sort()).toEqual(Object.keys(eventVersions).sort());
  });

  test.each(golden)(
    '$name is folded as its version says: raise `pointFoldVersion` and add the hash when ' +
      'the fold changes',
    ({ events, points }) => {
      expect({ [pointFoldVersion]: hashOfPoints(events) }).toEqual({
        [pointFoldVersion]: points[pointFoldVersion],
      });
    },
  );

  test('the key of snapshots changes with the version of the fold and of every event type', () => {
    expect(pointSnapshotKey()).toBe(
      `point@${pointFoldVersion}/${contentHash(JSON.parse(canonicalJson(eventVersions)))}`,
    );
  });
});
