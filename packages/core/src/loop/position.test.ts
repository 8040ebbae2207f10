import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event, EventDraft } from '../ledger/event.ts';
import { foldPosition } from './position-fold.ts';

const base = { by: 'runtime' as const, invocationId: 'run' };

function callOf(index: number): EventDraft {
  return {
    ...base,
    by: 'model',
    type: 'tool_call',
    callId: `run/r1.${index}`,
    agent: 'a',
    name: 't',
    args: { index },
    providerCallId: `c${index}`,
    round: 1,
    index,
  };
}

function resultOf(index: number): EventDraft {
  const result = { status: 'success' as const, content: index };
  return {
    ...base,
    type: 'tool_result',
    callId: `run/r1.${index}`,
    name: 't',
    attempt: 1,
    result,
    settled: true,
    durationMs: 1,
  };
}

test(
  'the calls of a round count in the order in which they were asked for, whichever ' + 'ends first',
  () => {
    const indexes = [0, 1, 2, 3, 4];
    fc.assert(
      fc.property(fc.shuffledSubarray(indexes, { minLength: indexes.length }), (order) => {
        const drafts = [...indexes.map(callOf), ...order.map(resultOf)];
        const events = drafts.map(
          (draft, i) => ({ v: 1, seq: i + 1, id: `e${i}`, at: i, ...draft }) as Event,
        );
        expect(foldPosition('run', events).supervision.evidence.map(({ args }) => args)).toEqual(
          indexes.map((index) => ({ index })),
        );
      }),
    );
  },
);
