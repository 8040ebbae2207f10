import type { Event, Store } from 'adjutant';
import type { SnapshotInvocation } from 'adjutant/views';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { foldEvent } from '../../src/ledger/event.ts';
import { requestFold } from '../../src/ledger/folds/request-fold.ts';
import { arbitraryLedger } from '../arbitrary-ledger.ts';
import { type StorePlace, storePlaces } from '../store-places.ts';
import { changes, open, write } from './written-ledger.ts';

/** Ids of the requests that are open after some events. */
function openRequests(events: readonly Event[]): readonly string[] {
  let requests = new Map();
  for (const event of events) requests = foldEvent(requestFold, requests, event);
  return [...requests.keys()];
}

/** Paths of the invocations that are at work or wait, in the order in which they began. */
function active(tree: readonly SnapshotInvocation[]): readonly string[] {
  const all: SnapshotInvocation[] = [];
  const visit = (one: SnapshotInvocation): void => {
    all.push(one);
    for (const child of one.children) visit(child);
  };
  for (const root of tree) visit(root);
  return all
    .filter(({ status }) => status === 'open' || status === 'yielded')
    .toSorted((one, other) => one.startIndex - other.startIndex)
    .map(({ invocationId }) => invocationId);
}

/** Input tokens of the answered and failed calls of models. */
function tokensOf(events: readonly Event[]): number {
  return events.reduce(
    (sum, event) =>
      event.type === 'model_end' && event.substitutedBy === undefined
        ? sum + event.usage.inputTokens
        : sum,
    0,
  );
}

describe.each(storePlaces)('app.sessions.momentAt on %s', (_name, make) => {
  let place: StorePlace;
  let store: Store;

  beforeEach(async () => {
    place = await make();
    store = place.open();
  });

  afterEach(async () => {
    await store.close();
    await place.remove();
  });

  test('is what state, requests, usage and invocations say, at any seq of any ledger', async () => {
    let number = 0;
    await fc.assert(
      fc.asyncProperty(arbitraryLedger(), fc.nat(1_000), async (events, drawn) => {
        const id = `s${number++}`;
        await write(store, id, events);
        const { sessions } = open(store);
        const seq = drawn % (events.length + 1);
        const until = events.slice(0, seq);
        const { invocationTree, ...state } = await sessions.stateAt(id, seq);
        const moment = await sessions.momentAt(id, seq, { values: 'full' });
        expect(moment).toMatchObject({ at: seq, last: events.length });
        expect(moment.state).toEqual(state);
        expect(moment.event).toEqual(until.at(-1));
        expect(moment.requests.map(({ requestId }) => requestId)).toEqual(openRequests(until));
        expect(moment.usage.usage.inputTokens).toBe(tokensOf(until));
        expect(moment.invocations.map(({ id: path }) => path)).toEqual(active(invocationTree));
      }),
      { numRuns: 25 },
    );
  });

  test('names what the event has written, with what was there before', async () => {
    await write(store, 's', changes(25));
    const { sessions } = open(store);
    const moment = await sessions.momentAt('s', 25);
    expect(moment.changes).toEqual([
      { scope: 'session', key: 'key4', before: '14', after: '24', by: 'operator' },
    ]);
    expect((await sessions.momentAt('s', 5)).changes).toEqual([
      { scope: 'session', key: 'key4', after: '4', by: 'operator' },
    ]);
    expect(await sessions.momentAt('s', 0)).toMatchObject({ at: 0, last: 25, changes: [] });
  });

  test('has large values as references, or as they are', async () => {
    const large = 'x'.repeat(100_000);
    const { sessions } = open(store);
    const session = await sessions.create({ id: 's' });
    session.state.draft = large;
    await session.flush();
    const { sessions: reading } = open(store);
    const { last } = await reading.momentAt('s');
    const [bare, full] = await Promise.all([
      reading.momentAt('s', last),
      reading.momentAt('s', last, { values: 'full' }),
    ]);
    expect(bare.changes).toMatchObject([{ key: 'draft', after: { size: large.length + 2 } }]);
    expect(full.changes).toMatchObject([{ key: 'draft', after: large }]);
    expect(full.state.sessionState).toEqual({ draft: large });
  });

  test('is refused for a seq that is not there, and for no session', async () => {
    await write(store, 's', changes(5));
    const { sessions } = open(store);
    await expect(sessions.momentAt('s', 6)).rejects.toMatchObject({ code: 'seq_out_of_range' });
    await expect(sessions.momentAt('nowhere')).rejects.toMatchObject({ code: 'session_not_found' });
  });
});
