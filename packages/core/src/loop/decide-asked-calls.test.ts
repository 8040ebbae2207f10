import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  answered,
  asked,
  attempted,
  called,
  frame,
  given,
  intents,
  resulted,
  user,
  yielded,
} from '../../test/loop/recorded-drafts.ts';
import type { EventDraft } from '../ledger/event.ts';

describe('decide about calls that were asked about', () => {
  const round = [user, asked(1), called(1, 0), called(1, 1), answered(1)];
  const bothAsked = [...round, yielded(0), yielded(1)];
  const first = { type: 'tool', key: 'tool:run/r1.0' };
  const second = { type: 'tool', key: 'tool:run/r1.1' };
  const wait = { type: 'wait' };

  test.each<
    [
      string,
      readonly EventDraft[],
      readonly string[],
      readonly object[],
      readonly object[],
      number?,
    ]
  >([
    ['one of two is answered', [...bothAsked, given(0)], [], [first], [wait]],
    [
      'input is given and an approval is missing',
      [...round, yielded(0, { kind: 'input' }), yielded(1), given(0, 'answer')],
      [],
      [first],
      [wait],
    ],
    ['both are answered', [...bothAsked, given(0), given(1)], [], [first, second], [first, second]],
    [
      'one was asked about again',
      [...bothAsked, given(0), given(1), yielded(1, { requestId: 'q1b', generation: 2 })],
      [],
      [first],
      [wait],
    ],
    [
      'one is answered and the other rejected',
      [...bothAsked, given(0), given(1, 'reject')],
      [],
      [first, second],
      [first, second],
    ],
    ['a rejection ends its call at once', [...bothAsked, given(0, 'reject')], [], [first], [first]],
    ['who is asked next does not wait', [...bothAsked, given(0, 'escalate')], [], [first], [first]],
    ['a call that needs nobody goes ahead', [...round, yielded(0)], [], [second], [second]],
    [
      'one is answered and nobody knows yet whether the other needs somebody',
      [...round, yielded(0), given(0)],
      ['tool:run/r1.1'],
      [first],
      [wait],
    ],
    ['nor when it has not begun', [...round, yielded(0), given(0)], [], [first, second], [second]],
    ['nor when it has no place yet', [...round, yielded(0), given(0)], [], [first], [second], 1],
    [
      'the other is under way',
      [...round, yielded(0), attempted(1, 1), given(0)],
      ['tool:run/r1.1'],
      [first],
      [first],
    ],
    [
      'the other has its result',
      [...round, yielded(0), resulted(1, 1), given(0)],
      [],
      [first],
      [first],
    ],
    [
      'the other waits for a result from elsewhere',
      [...round, yielded(0), attempted(1, 1), yielded(1, { kind: 'result', attempt: 1 }), given(0)],
      [],
      [first],
      [first],
    ],
    [
      'an attempt that was made is made again',
      [
        ...bothAsked,
        given(0),
        attempted(1, 0),
        resulted(1, 0, { settled: false, retryAfterMs: 0 }),
      ],
      [],
      [{ ...first, attempt: 2 }],
      [{ ...first, attempt: 2 }],
    ],
  ])('when %s', (_name, drafts, inFlight, each, round, concurrency = 16) => {
    expect(intents(drafts, inFlight, frame({}, {}, concurrency, 'each'))).toMatchObject(each);
    expect(intents(drafts, inFlight, frame({}, {}, concurrency, 'round'))).toMatchObject(round);
  });

  test('nothing is held for good: whoever answers everything lets everything go', () => {
    const answer = fc.constantFrom('approve', 'edit', 'reject', 'answer', 'expire');
    fc.assert(
      fc.property(
        fc.array(fc.option(answer), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 3 }),
        (answers, concurrency) => {
          const drafts: EventDraft[] = [
            user,
            asked(1),
            ...answers.map((_, i) => called(1, i)),
            answered(1),
          ];
          answers.forEach((decision, i) => {
            drafts.push(...(decision === null ? [] : [yielded(i), given(i, decision)]));
          });
          for (let left = answers.length; left > 0; left--) {
            const [next] = intents(drafts, [], frame({}, {}, concurrency, 'round'));
            expect(next).toMatchObject({ type: 'tool' });
            if (next?.type === 'tool')
              drafts.push(attempted(1, next.call.call.index), resulted(1, next.call.call.index));
          }
          expect(intents(drafts)).toMatchObject([{ type: 'model', round: 2 }]);
        },
      ),
    );
  });
});
