import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Event, type EventDraft, foldEvent } from '../ledger/event.ts';
import type { Account, Demand } from '../supervision/limits.ts';
import { decide, type Frame } from './decide.ts';
import { startPosition } from './position.ts';
import { concerns, foldPosition, positionFold } from './position-fold.ts';

const path = 'run';
const recipe = { encoder: 1 as const, segments: [], resultLimit: 2_000, settings: 'none' };
const base = { by: 'runtime' as const, invocationId: path };
const user: EventDraft = { type: 'user', by: 'user', invocationId: path, text: 'Go' };
const asked = (round: number, attempt = 1): EventDraft => ({
  ...base,
  type: 'model_start',
  agent: 'a',
  round,
  attempt,
  model: 'm',
  recipe,
  estimatedInputTokens: 1,
});
const answered = (round: number, more: object = {}): EventDraft =>
  ({
    ...base,
    type: 'model_end',
    round,
    attempt: 1,
    status: 'completed',
    usage: { inputTokens: 10, outputTokens: 5 },
    durationMs: 1,
    ...more,
  }) as EventDraft;
const said = (round: number, text = 'done'): EventDraft => ({
  ...base,
  by: 'model',
  type: 'assistant',
  agent: 'a',
  round,
  text,
});
const called = (round: number, index = 0): EventDraft => ({
  ...base,
  by: 'model',
  type: 'tool_call',
  callId: `${path}/r${round}.${index}`,
  agent: 'a',
  name: 't',
  args: {},
  providerCallId: `c${round}.${index}`,
  round,
  index,
});
const attempted = (round: number, index = 0, attempt = 1): EventDraft => ({
  ...base,
  type: 'tool_attempt',
  callId: `${path}/r${round}.${index}`,
  attempt,
  key: 'k',
  epoch: 1,
});
const resulted = (round: number, index = 0, more: object = {}): EventDraft =>
  ({
    ...base,
    type: 'tool_result',
    callId: `${path}/r${round}.${index}`,
    name: 't',
    attempt: 1,
    result: { status: 'success', content: 1 },
    settled: true,
    durationMs: 1,
    ...more,
  }) as EventDraft;
const yielded = (index: number, more: object = {}): EventDraft =>
  ({
    ...base,
    type: 'tool_yield',
    callId: `${path}/r1.${index}`,
    name: 't',
    args: {},
    kind: 'approval',
    requestId: `q${index}`,
    generation: 1,
    fingerprint: 'f',
    request: { agent: 'a', summary: '', options: ['approve', 'reject'] },
    ...more,
  }) as EventDraft;
const given = (index: number, decision = 'approve', requestId = `q${index}`): EventDraft =>
  ({
    ...base,
    by: 'user',
    type: 'tool_input',
    callId: `${path}/r1.${index}`,
    requestId,
    decision,
  }) as EventDraft;
const spawned: EventDraft = {
  by: 'runtime',
  type: 'invocation_start',
  invocationId: `${path}/r1.0/child`,
  kind: 'step',
  name: 'child',
  mode: 'spawn',
};
const childEnded = (more: object = {}): EventDraft =>
  ({
    by: 'runtime',
    type: 'invocation_end',
    invocationId: `${path}/r1.0/child`,
    status: 'completed',
    ...more,
  }) as EventDraft;
const limitNote = (decision: 'warn' | 'exhausted', reason: string): EventDraft => ({
  ...base,
  type: 'decision',
  component: 'limits',
  decision,
  reasoning: '',
  data: { reason },
});

function numbered(drafts: readonly EventDraft[]): readonly Event[] {
  return drafts.map(
    (draft, i) => ({ v: 1, seq: i + 1, id: `e${i}`, at: 1_000 + i, ...draft }) as Event,
  );
}

const nothing = { rounds: 0, tokens: 0, cost: 0, errors: 0 };
const unlimited = { rounds: undefined, tokens: undefined, cost: undefined, errors: undefined };

type Limits = Partial<Frame['limits']>;
interface Run {
  readonly used?: Partial<Account['used']>;
  readonly reserved?: Partial<Account['used']>;
  readonly limits?: Partial<Account['limits']>;
  readonly warned?: ReadonlySet<string>;
  readonly demand?: Demand;
}
function frame(
  limits: Limits = {},
  run: Run = {},
  toolConcurrency = 16,
  hold: Frame['hold'] = 'each',
): Frame {
  const { tokens, cost } = limits;
  const own = {
    of: 'agent' as const,
    path,
    used: nothing,
    reserved: nothing,
    limits: { ...unlimited, tokens, cost },
  };
  const shared = {
    of: 'run' as const,
    path,
    used: { ...nothing, ...run.used },
    reserved: { ...nothing, ...run.reserved },
    limits: { ...unlimited, ...run.limits },
  };
  return {
    limits: {
      rounds: 25,
      tokens: undefined,
      cost: undefined,
      errors: undefined,
      onLimit: 'answer',
      ...limits,
    },
    toolConcurrency,
    hold,
    recoveries: 3,
    onLoop: undefined,
    budget: { accounts: [own, shared], demand: run.demand, warned: run.warned ?? new Set() },
  };
}

function intents(
  drafts: readonly EventDraft[],
  inFlight: readonly string[] = [],
  given: Frame = frame(),
) {
  const position = foldPosition(path, numbered(drafts));
  const { tokens, cost } = position.limits;
  const [own, ...others] = given.budget.accounts;
  const accounts = [{ ...(own as Account), used: { ...nothing, tokens, cost } }, ...others];
  return decide(position, new Set(inFlight), { ...given, budget: { ...given.budget, accounts } });
}

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
