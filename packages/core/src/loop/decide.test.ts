import { describe, expect, test } from 'vitest';
import {
  answered,
  asked,
  attempted,
  base,
  called,
  childEnded,
  frame,
  intents,
  limitNote,
  resulted,
  said,
  spawned,
  user,
} from '../../test/loop/recorded-drafts.ts';
import type { EventDraft } from '../ledger/event.ts';
import type { Frame } from './decide.ts';

describe('decide', () => {
  const two = [user, asked(1), called(1, 0), called(1, 1), answered(1)];
  const answer = [user, asked(1), said(1), answered(1)];

  test.each<[string, readonly EventDraft[], readonly string[], readonly object[], Frame?]>([
    [
      'a model call at the beginning',
      [user],
      [],
      [{ type: 'model', key: 'model:1.1', round: 1, attempt: 1, final: false }],
    ],
    [
      'another call after the agent was reopened, also at a limit that was raised',
      [
        user,
        asked(1),
        limitNote('exhausted', 'token_limit'),
        answered(1, { status: 'error', error: { name: 'E', code: 'e', message: 'm' } }),
        { ...base, type: 'invocation_reopen', reason: 'fixed' },
      ],
      [],
      [{ type: 'model', key: 'model:1.2', round: 1, attempt: 2, final: false }],
    ],
    ['nothing while it is under way', [user, asked(1)], ['model:1.1'], [{ type: 'wait' }]],
    ['the end of a call whose process stopped', [user, asked(1)], [], [{ type: 'close_model' }]],
    [
      'the same call again after an interruption',
      [user, asked(1), answered(1, { status: 'interrupted' })],
      [],
      [{ type: 'model', key: 'model:1.2', round: 1, attempt: 2, notBefore: undefined }],
    ],
    [
      'another attempt when it is due',
      [user, asked(1), answered(1, { status: 'error', retryAfterMs: 500 })],
      [],
      [{ type: 'model', key: 'model:1.2', notBefore: 1_502 }],
    ],
    [
      'failure when there is no other attempt',
      [
        user,
        asked(1),
        answered(1, { status: 'error', error: { name: 'E', code: 'c', message: 'm' } }),
      ],
      [],
      [{ type: 'fail', error: { code: 'c' } }],
    ],
    [
      'all calls of a round at once',
      two,
      [],
      [
        { type: 'tool', key: 'tool:run/r1.0', attempt: 1 },
        { type: 'tool', key: 'tool:run/r1.1' },
      ],
    ],
    [
      'only what is not under way',
      two,
      ['tool:run/r1.0'],
      [{ type: 'tool', key: 'tool:run/r1.1' }],
    ],
    [
      'no more than may run at once',
      two,
      [],
      [{ type: 'tool', key: 'tool:run/r1.0' }],
      frame({}, {}, 1),
    ],
    [
      'nothing when that many are under way',
      two,
      ['tool:run/r1.0'],
      [{ type: 'wait' }],
      frame({}, {}, 1),
    ],
    [
      'what became of an attempt whose process stopped',
      [...two, attempted(1), resulted(1, 1)],
      [],
      [{ type: 'close_attempt', attempt: { attempt: 1 } }],
    ],
    [
      'another attempt at once',
      [...two, resulted(1, 1), attempted(1), resulted(1, 0, { settled: false, retryAfterMs: 0 })],
      [],
      [{ type: 'tool', attempt: 2, notBefore: undefined }],
    ],
    [
      'another attempt when it is due',
      [...two, resulted(1, 1), attempted(1), resulted(1, 0, { settled: false, retryAfterMs: 70 })],
      [],
      [{ type: 'tool', attempt: 2, notBefore: 1_077 }],
    ],
    [
      'the next round when all calls are settled',
      [...two, resulted(1, 1), resulted(1, 0)],
      [],
      [{ type: 'model', key: 'model:2.1', round: 2 }],
    ],
    [
      'waiting for the other calls of the round',
      [...two, resulted(1, 1)],
      ['tool:run/r1.0'],
      [{ type: 'wait' }],
    ],
    [
      'the end with the answer',
      answer,
      [],
      [{ type: 'finish', output: 'done', stopReason: undefined }],
    ],
    [
      'another round for a message that came meanwhile',
      [...answer, user],
      [],
      [{ type: 'model', round: 2 }],
    ],
    [
      'waiting for a spawned child',
      [
        user,
        asked(1),
        called(1),
        answered(1),
        spawned,
        resulted(1),
        asked(2),
        said(2),
        answered(2),
      ],
      [],
      [{ type: 'wait' }],
    ],
    [
      'waiting while a spawned child has only handed over',
      [
        user,
        asked(1),
        called(1),
        answered(1),
        spawned,
        resulted(1),
        asked(2),
        said(2),
        answered(2),
        childEnded({ status: 'transferred', next: { name: 'x' } }),
      ],
      [],
      [{ type: 'wait' }],
    ],
    [
      'another round when it has ended',
      [
        user,
        asked(1),
        called(1),
        answered(1),
        spawned,
        resulted(1),
        asked(2),
        said(2),
        answered(2),
        childEnded(),
      ],
      [],
      [{ type: 'model', round: 3 }],
    ],
    [
      'a hand-over',
      [user, asked(1), called(1), answered(1), resulted(1, 0, { next: { name: 'x' } })],
      [],
      [{ type: 'transfer', next: { name: 'x' } }],
    ],
    [
      'no hand-over before spawned children have ended',
      [user, asked(1), called(1), answered(1), spawned, resulted(1, 0, { next: { name: 'x' } })],
      [],
      [{ type: 'wait' }],
    ],
    [
      'a late result changes nothing',
      [...two, resulted(1, 1), attempted(1), resulted(1, 0, { settled: false, late: true })],
      ['tool:run/r1.0'],
      [{ type: 'wait' }],
    ],
  ])('%s', (_name, drafts, inFlight, expected, given) => {
    expect(intents(drafts, inFlight, given)).toMatchObject(expected);
    expect(intents(drafts, inFlight, given)).toHaveLength(expected.length);
  });

  const used = [user, asked(1), called(1), answered(1), resulted(1)];
  test.each<[string, Frame, string]>([
    ['rounds', frame({ rounds: 1 }), 'round_limit'],
    ['tokens', frame({ tokens: 15 }), 'token_limit'],
    ['rounds of the run', frame({}, { used: { rounds: 3 }, limits: { rounds: 3 } }), 'round_limit'],
    ['cost of the run', frame({}, { used: { cost: 2 }, limits: { cost: 2 } }), 'cost_limit'],
  ])(
    'a limit of %s is declared, then the model answers without tools, or the agent fails',
    (_name, given, reason) => {
      expect(intents(used, [], given)).toMatchObject([
        { type: 'declare_limit', limit: { reason }, action: 'answer' },
      ]);
      const declared = [...used, limitNote('exhausted', reason)];
      expect(intents(declared, [], given)).toMatchObject([
        { type: 'model', round: 2, final: true },
      ]);
      expect(intents([...declared, asked(2), said(2), answered(2)], [], given)).toMatchObject([
        { type: 'finish', output: 'done', stopReason: reason },
      ]);
      const failing = { ...given, limits: { ...given.limits, onLimit: 'fail' as const } };
      expect(intents(declared, [], failing)).toMatchObject([
        {
          type: 'fail',
          stopReason: reason,
          error: { code: reason === 'round_limit' ? 'step_limit_exceeded' : 'budget_exceeded' },
        },
      ]);
    },
  );

  test('it is warned of tokens and cost once, when nine tenths are used', () => {
    expect(intents(used, [], frame({ tokens: 17 }))).toMatchObject([{ type: 'model' }]);
    expect(intents(used, [], frame({ tokens: 16 }))).toMatchObject([
      { type: 'warn', limit: { reason: 'token_limit', used: 15, limit: 16 } },
    ]);
    expect(
      intents([...used, limitNote('warn', 'token_limit')], [], frame({ tokens: 16 })),
    ).toMatchObject([{ type: 'model', final: false }]);
  });
});
