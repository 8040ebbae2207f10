import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  answered,
  asked,
  attempted,
  called,
  childEnded,
  frame,
  given,
  limitNote,
  numbered,
  path,
  resulted,
  said,
  spawned,
  user,
  yielded,
} from '../../test/loop/recorded-drafts.ts';
import { foldEvent } from '../ledger/event.ts';
import { decide } from './decide.ts';
import { startPosition } from './position.ts';
import { concerns, foldPosition, positionFold } from './position-fold.ts';

const anyDraft = fc.constantFrom(
  user,
  asked(1),
  asked(2),
  answered(1),
  answered(1, { status: 'error', retryAfterMs: 5 }),
  answered(2),
  said(1),
  called(1, 0),
  called(1, 1),
  called(2, 0),
  attempted(1),
  attempted(1, 0, 2),
  resulted(1),
  resulted(1, 1),
  resulted(1, 0, { settled: false, retryAfterMs: 5 }),
  resulted(2),
  yielded(0),
  yielded(1),
  given(0),
  given(1, 'reject'),
  spawned,
  childEnded(),
  limitNote('warn', 'token_limit'),
  limitNote('exhausted', 'round_limit'),
);

test('the same position gives the same intents, and asking changes nothing', () => {
  fc.assert(
    fc.property(
      fc.array(anyDraft, { maxLength: 25 }),
      fc.subarray(['model:1.1', 'model:2.1', 'tool:run/r1.0', 'tool:run/r1.1']),
      (drafts, inFlight) => {
        const position = foldPosition(path, numbered(drafts));
        const copy = structuredClone(position);
        const held = frame({ tokens: 20 }, {}, 16, 'round');
        const first = decide(position, new Set(inFlight), held);
        expect(decide(position, new Set(inFlight), held)).toEqual(first);
        expect(position).toEqual(copy);
        for (const intent of first) if ('key' in intent) expect(inFlight).not.toContain(intent.key);
        const keys = first.flatMap((intent) => ('key' in intent ? [intent.key] : []));
        expect(new Set(keys).size).toBe(keys.length);
      },
    ),
  );
});

test('the position after two stretches is that after both', () => {
  fc.assert(
    fc.property(fc.array(anyDraft, { maxLength: 25 }), fc.nat(25), (drafts, cut) => {
      const events = numbered(drafts);
      let position = startPosition(path);
      for (const part of [events.slice(0, cut), events.slice(cut)]) {
        for (const event of part)
          if (concerns(position, event)) position = foldEvent(positionFold, position, event);
      }
      expect(position).toEqual(foldPosition(path, events));
    }),
  );
});
