import { type Event, parallel, run, session, step } from 'adjutant';
import {
  computeStateAtEvent,
  findEventIndex,
  findInvocationBoundary,
  snapshotAt,
} from 'adjutant/views';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryLedger } from '../arbitrary-ledger.ts';
import { recorded, seqOf } from './recorded-session.ts';

const big = 'x'.repeat(100_000);

describe('stateAt', () => {
  test(
    'has every scope, the status, the agent and the tree as they were after ' + 'the event',
    async () => {
      const made = await recorded();
      const { events } = made;
      const counted = seqOf(
        events,
        (event) => event.type === 'invocation_end' && event.invocationId === 'run/count',
      );
      const then = made.stateAt(counted);
      expect(then).toMatchObject({
        seq: counted,
        status: 'active',
        sessionState: { n: 1 },
        userState: { theme: 'dark' },
        currentAgentName: undefined,
      });
      expect(then.invocationTree).toMatchObject([
        {
          invocationId: 'run',
          kind: 'sequence',
          status: 'open',
          startIndex: seqOf(events, ({ type }) => type === 'invocation_start'),
          children: [
            { invocationId: 'run/count', status: 'completed', endIndex: counted, children: [] },
          ],
        },
      ]);
      expect(then.invocationTree[0]).not.toHaveProperty('endIndex');
      const last = made.stateAt(events.length);
      expect(last).toMatchObject({
        status: 'completed',
        sessionState: { text: 'done' },
        currentAgentName: 'writer',
      });
      expect(last.sessionState).not.toHaveProperty('n');
      expect(last.invocationTree[0]?.children.map(({ name }) => name)).toEqual([
        'count',
        'writer',
        'forget',
      ]);
    },
  );

  test('before the first event there is nothing', async () => {
    const made = await recorded();
    expect(made.stateAt(0)).toEqual({
      seq: 0,
      status: 'active',
      sessionState: {},
      overlays: {},
      invocationTree: [],
      currentAgentName: undefined,
    });
    expect(snapshotAt([], 0)).toEqual(made.stateAt(0));
    expect(computeStateAtEvent(made.events, 0, 'session')).toEqual({});
  });

  test.each([-1, 0.5, Number.NaN, 1_000])('refuses the seq %d', async (seq) => {
    const made = await recorded();
    const last = made.events.length;
    for (const ask of [
      () => made.stateAt(seq),
      () => made.forkAt(seq),
      () => computeStateAtEvent(made.events, seq, 'session'),
    ]) {
      expect(ask).toThrow(
        expect.objectContaining({ code: 'seq_out_of_range', data: { seq, last } }),
      );
    }
  });

  test('in the middle of a parallel the writes of each branch stand beside the state', async () => {
    const write = (name: string) =>
      step({
        name,
        execute: async (ctx) => {
          ctx.state['by'] = name;
          if (name === 'b') ctx.state['before'] = undefined;
          await ctx.call(step({ name: 'inner', execute: () => undefined }));
        },
      });
    const made = await session('travel');
    made.state['before'] = 1;
    await run(parallel({ name: 'both', runnables: [write('a'), write('b')] }), {
      session: made,
      runId: 'run',
    });
    const { events } = made;
    const writes = events.filter(
      (event) =>
        event.type === 'state_change' &&
        event.invocationId !== undefined &&
        event.invocationId !== 'run',
    );
    const middle = Math.max(...writes.map(({ seq }) => seq));
    expect(made.stateAt(middle)).toMatchObject({
      sessionState: { before: 1 },
      overlays: { 'run/a': { by: 'a' }, 'run/b': { by: 'b' } },
    });
    expect(made.stateAt(middle).overlays['run/b']).toHaveProperty('before', undefined);
    expect(made.stateAt(events.length)).toMatchObject({ sessionState: { by: 'b' }, overlays: {} });
  });

  test('large values are whole where they can be resolved, and references where not', async () => {
    const made = await session('travel');
    made.state['kept'] = big;
    expect(made.stateAt(1).sessionState['kept']).toBe(big);
    expect(computeStateAtEvent(made.events, 1, 'session')['kept']).toMatchObject({
      size: big.length + 2,
    });
    expect(computeStateAtEvent(made.events, 1, 'session', made.ledger.resolve)['kept']).toBe(big);
    const fork = made.forkAt(1);
    expect(fork.state['kept']).toBe(big);
  });

  test('after the last event it is what the session says, for every ledger', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLedger(), async (events) => {
        const made = await session.fromSnapshot({ app: 'travel', id: 's', events });
        const now = made.stateAt(events.length);
        expect(now.status).toBe(made.status);
        expect(now.currentAgentName).toBe(made.currentAgentName);
        expect(now.sessionState).toEqual({ ...made.state });
        expect(computeStateAtEvent(events, events.length, 'session')).toEqual(now.sessionState);
      }),
      { numRuns: 60 },
    );
  });
});

describe('looking up', () => {
  test('an event id gives its seq, which is the place to look at', async () => {
    const made = await recorded();
    const change = made.events.find((event) => event.type === 'state_change') as Event;
    expect(made.eventIndexOf(change.id)).toBe(change.seq);
    expect(findEventIndex(made.events, made.events[0]?.id ?? '')).toBe(1);
    expect(findEventIndex(made.events, made.events.at(-1)?.id ?? '')).toBe(made.events.length);
    expect(made.eventIndexOf('no such event')).toBeUndefined();
    expect(made.stateAt(change.seq).sessionState).not.toEqual(
      made.stateAt(change.seq - 1).sessionState,
    );
  });

  test(
    'an invocation reaches from its start to its end; one that is open has no end, also ' +
      'after it was reopened',
    async () => {
      const made = await recorded();
      const boundary = made.invocationBoundary('run/writer');
      expect(boundary).toEqual({
        invocationId: 'run/writer',
        agentName: 'writer',
        startIndex: seqOf(
          made.events,
          (event) => event.type === 'invocation_start' && event.name === 'writer',
        ),
        endIndex: seqOf(
          made.events,
          (event) => event.type === 'invocation_end' && event.invocationId === 'run/writer',
        ),
      });
      const open = findInvocationBoundary(made.events.slice(0, boundary?.startIndex), 'run/writer');
      expect(open).toEqual({
        invocationId: 'run/writer',
        agentName: 'writer',
        startIndex: boundary?.startIndex,
      });
      expect(made.invocationBoundary('run/nobody')).toBeUndefined();
      made.append([
        { type: 'invocation_reopen', by: 'operator', invocationId: 'run/writer', reason: 'again' },
      ]);
      expect(made.invocationBoundary('run/writer')).toEqual(open);
      made.append([
        { type: 'invocation_end', by: 'runtime', invocationId: 'run/writer', status: 'completed' },
      ]);
      expect(made.invocationBoundary('run/writer')).toEqual({
        ...open,
        endIndex: made.events.length,
      });
    },
  );
});
