import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../base/json.ts';
import type { ToolResult } from '../../ledger/tool-result.ts';
import type { CallEvidence } from '../evidence.ts';
import { judgeCall, judgeResult } from './loop-detector.ts';
import {
  call,
  failed,
  never,
  options,
  play,
  shown,
  success,
  times,
} from './played-calls.fixture.ts';

describe('calls that repeat themselves', () => {
  it('are warned of from the third equal result, and not made from the fifth call', () => {
    const judged = play(times(7, () => ({ call: call('look'), result: success('same') })));
    expect(shown(judged)).toBe('..wwxxx');
    expect(judged[2]?.warn).toMatchObject({ level: 'warn', detector: 'repeat', count: 3 });
    expect(judged[4]?.block).toMatchObject({ level: 'block', detector: 'repeat', count: 5 });
    expect(judged[4]?.block?.reasoning).toContain('5th');
    expect(judged[4]?.block?.alternatives).not.toHaveLength(0);
    // A refused call is no progress and does not count: it stays the fifth.
    expect(judged[6]?.block?.count).toBe(5);
  });

  it.each([
    [
      'other arguments',
      (i: number) => ({ call: call('look', { page: i }), result: success('same') }),
      '.........',
    ],
    [
      'other tools',
      (i: number) => ({ call: call(`look_${i}`), result: success('same') }),
      '.........',
    ],
    [
      'the same arguments in another order',
      (i: number) => ({
        call: call('look', i % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 }),
        result: success('same'),
      }),
      '..wwxxxxx',
    ],
    [
      'nothing but another time',
      (i: number) => ({ call: call('look'), result: success(`none at 2026-01-01T00:00:0${i}Z`) }),
      '..wwxxxxx',
    ],
    [
      'a failure each time',
      () => ({ call: call('look'), result: failed('timeout', 'timeout') }),
      '..wwxxxxx',
    ],
    [
      'progress after four',
      (i: number) => ({ call: call('look'), result: success(i < 4 ? 'same' : 'new') }),
      '..wwxxxxx',
    ],
    [
      'progress after three',
      (i: number) => ({ call: call('look'), result: success(i < 3 ? 'same' : 'new') }),
      '..w..wwxx',
    ],
    [
      'refusals by people',
      () => ({ call: call('look'), result: failed('rejected', 'error_blocked') }),
      '.........',
    ],
    [
      'answers that nobody gave',
      () => ({ call: call('look'), result: failed('expired', 'error_blocked') }),
      '.........',
    ],
    [
      'calls that were cancelled',
      () => ({ call: call('look'), result: failed('cancelled', 'error_blocked') }),
      '.........',
    ],
    [
      'interrupted calls',
      () => ({ call: call('look'), result: failed('interrupted') }),
      '.........',
    ],
    [
      'outcomes that nobody knows',
      () => ({ call: call('look'), result: failed('x', 'unknown') }),
      '.........',
    ],
    [
      'an unknown tool',
      (i: number) => ({
        call: call('nope', { i }, { isKnown: false }),
        result: failed('unknown_tool'),
      }),
      '..wwxxxxx',
    ],
  ] as const)('%s', (_name, make, expected) => {
    expect(shown(play(times(9, make)))).toBe(expected);
  });

  it('forgets an unknown tool when there is one of this name', () => {
    const judged = play(
      times(6, (i) =>
        i < 4
          ? { call: call('later', {}, { isKnown: false }), result: failed('unknown_tool') }
          : { call: call('later'), result: success(i) },
      ),
    );
    expect(shown(judged)).toBe('..ww..');
  });
});

describe('polling with results that change', () => {
  it('is warned of from the tenth call, and the twentieth is not made', () => {
    const judged = play(
      times(22, (i) => ({ call: call('status'), result: success({ progress: i }) })),
    );
    expect(shown(judged)).toBe(`${'.'.repeat(9)}${'w'.repeat(10)}xxx`);
    expect(judged[9]?.warn).toMatchObject({ detector: 'poll', count: 10 });
    expect(judged[19]?.block).toMatchObject({ detector: 'poll', count: 20 });
  });

  it('is no matter where other calls fill the window', () => {
    const judged = play(
      times(90, (i) => ({
        call: i % 2 ? call('status') : call('work', { i }),
        result: success(i),
      })),
    );
    // Of 30 calls 15 are the same.
    expect(shown(judged)).not.toContain('x');
  });
});

describe('ping-pong', () => {
  const twoByTurns = (i: number) => ({
    call: call(i % 2 ? 'up' : 'down'),
    result: success(i % 2 ? 'low' : 'high'),
  });

  it('is warned of and blocked like a repetition, both calls, under its own name', () => {
    const judged = play(times(12, twoByTurns));
    expect(shown(judged)).toBe('....wwwwxxxx');
    expect(judged.slice(4, 8).map(({ warn }) => warn?.detector)).toEqual(
      Array(4).fill('ping_pong'),
    );
    expect(judged.slice(8).map(({ block }) => block?.detector)).toEqual(Array(4).fill('ping_pong'));
  });

  it('is none when one of the two gets on', () => {
    const judged = play(
      times(12, (i) =>
        i % 2
          ? { call: call('edit'), result: success(i) }
          : { call: call('test'), result: success('red') },
      ),
    );
    expect(judged[8]?.block?.detector).toBe('repeat');
    expect(judged.filter((_, i) => i % 2 === 1).every(({ ran }) => ran)).toBe(true);
  });

  it.each([
    ['twice each', 'aabbaabba'],
    ['the same one twice at the end', 'abababaa'],
  ])('is none when they come otherwise: %s', (_name, names) => {
    const judged = play([...names].map((name) => ({ call: call(name), result: success('x') })));
    expect(judged.at(-1)?.block).toMatchObject({ detector: 'repeat', count: 5 });
  });

  it('is none when a third call is among them', () => {
    const judged = play(
      times(15, (i) => ({ call: call(['a', 'b', 'c'][i % 3] as string), result: success('x') })),
    );
    expect(judged[12]?.block?.detector).toBe('repeat');
  });
});

describe('calls about which nothing is left to be tried', () => {
  const exhausted = ((_last: CallEvidence, failures: number) => failures >= 2) as never;

  it.each([
    ['http_403', 'error_permanent', true, '..xx'],
    ['ssrf_blocked', 'error_blocked', true, '..xx'],
    ['validation_error', 'error_permanent', true, '..xx'],
    ['unknown_tool', 'error_permanent', false, '..xx'],
    ['timeout', 'timeout', true, '..ww'],
    ['tool_error', 'error_transient', true, '..ww'],
    ['rejected', 'error_blocked', true, '....'],
  ] as const)('%s (%s)', (errorType, status, isKnown, expected) => {
    const judged = play(
      times(4, () => ({ call: call('fetch', {}, { isKnown }), result: failed(errorType, status) })),
      options,
      exhausted,
    );
    expect(shown(judged)).toBe(expected);
    if (expected === '..xx')
      expect(judged[2]?.block).toMatchObject({ detector: 'exhausted', count: 3 });
  });

  it('are asked about with the failures that followed each other', () => {
    const seen: number[] = [];
    const results = [
      failed('http_403'),
      failed('http_404'),
      failed('http_404'),
      failed('http_404'),
    ];
    play(
      results.map((result) => ({ call: call('fetch'), result })),
      options,
      ((_last: CallEvidence, failures: number) => seen.push(failures) < 0) as never,
    );
    expect(seen).toEqual([1, 1, 2]);
  });
});

describe('a new message from outside', () => {
  it('lets the first call of its kind through, and no more', () => {
    const judged = play(
      times(9, (i) => ({
        call: call('look', {}, { turn: i < 6 ? 1 : 2 }),
        result: success('same'),
      })),
    );
    expect(shown(judged)).toBe('..wwxxwxx');
    // With the call of the new turn there are five, so the next one is the sixth.
    expect(judged[6]?.warn?.count).toBe(5);
    expect(judged[7]?.block?.count).toBe(6);
  });

  it('lets one call through whose ways are all tried', () => {
    const judged = play(
      times(5, (i) => ({
        call: call('fetch', {}, { turn: i < 3 ? 1 : 2 }),
        result: failed('http_403'),
      })),
      options,
      ((_last: CallEvidence, failures: number) => failures >= 2) as never,
    );
    expect(shown(judged)).toBe('..xwx');
  });
});
it('a threshold of one does not make a repetition of calls whose results change', () => {
  const given = { ...options, warnAt: 1, blockAt: 1 };
  const judged = play(
    times(9, (i) => ({ call: call('look'), result: success(i) })).slice(0, 1),
    given,
  );
  expect(shown(judged)).toBe('.');
  const evidence = [{ name: 'look', args: {}, result: success(1), turn: 1 }];
  expect(judgeResult(evidence, call('look'), success(2), given)).toBeUndefined();
  expect(judgeResult(evidence, call('look'), success(1), given)).toMatchObject({
    level: 'warn',
    count: 2,
  });
});
describe('long results', () => {
  it('are not looked at before a call repeats itself often enough', () => {
    const unreadable: ToolResult = {
      status: 'success',
      get content(): JsonValue {
        throw new Error('The result was read.');
      },
    };
    const evidence = [0, 1, 2].map((args) => ({ name: 'look', args, result: unreadable, turn: 1 }));
    expect(
      judgeCall(
        [...evidence, { name: 'look', args: 3, result: unreadable, turn: 1 }],
        call('look', 3),
        options,
        never,
      ),
    ).toBeUndefined();
    expect(judgeResult(evidence, call('look', 1), unreadable, options)).toBeUndefined();
  });

  it('are compared by their first 100,000 characters and their length', () => {
    const text = 'word '.repeat(80_000);
    const judged = play(
      times(6, (i) => ({ call: call('read'), result: success(i < 5 ? text : `${text}!`) })),
    );
    expect(shown(judged)).toBe('..wwxx');
  });
});
