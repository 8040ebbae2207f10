import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolResultStatus } from '../ledger/tool-result.ts';
import { hintFor } from './error-chains.ts';
import {
  attemptsBehind,
  isChainExhausted,
  type RoutedFailure,
  type RoutedTool,
  route,
} from './error-router.ts';
import type { ErrorRoutingOptions, Strategy } from './options.ts';

const defaults: Required<ErrorRoutingOptions> = {
  chains: {},
  severities: {},
  bySeverity: {},
  attempts: 3,
  initialDelayMs: 1_000,
  multiplier: 2,
  jitter: false,
  maxDelayMs: 30_000,
  escalateTo: 'caller',
};
const plain: RoutedTool = { ownRetry: false };
const withFallback: RoutedTool = { ownRetry: false, fallback: 'other' };

function failure(
  errorType: string,
  status: ToolResultStatus,
  more: Partial<RoutedFailure> = {},
): RoutedFailure {
  return {
    errorType,
    status,
    wasMade: true,
    mayRepeat: true,
    hasRaw: false,
    escalate: false,
    ...more,
  };
}

/** Strategies of the attempts 1, 2, 3, … */
function strategies(
  of: RoutedFailure,
  tool: RoutedTool = plain,
  options: Partial<ErrorRoutingOptions> = {},
  attempts = 4,
): readonly string[] {
  return Array.from(
    { length: attempts },
    (_, index) => route(of, index + 1, { ...defaults, ...options }, tool).strategy,
  );
}

describe('the default chains', () => {
  test.each<[string, ToolResultStatus, readonly string[]]>([
    ['http_403', 'error_blocked', ['hint', 'report', 'report', 'report']],
    ['http_404', 'error_permanent', ['hint', 'report', 'report', 'report']],
    ['http_410', 'error_permanent', ['hint', 'report', 'report', 'report']],
    ['http_429', 'error_transient', ['backoff', 'report', 'report', 'report']],
    ['timeout', 'timeout', ['retry', 'hint', 'report', 'report']],
    ['parse_error', 'error_permanent', ['hint', 'report', 'report', 'report']],
    ['empty_result', 'success', ['hint', 'hint', 'report', 'report']],
    ['ssrf_blocked', 'error_blocked', ['report', 'report', 'report', 'report']],
    ['http_401', 'error_blocked', ['report', 'report', 'report', 'report']],
    ['anything', 'error_blocked', ['report', 'report', 'report', 'report']],
    ['http_503', 'error_transient', ['backoff', 'backoff', 'report', 'report']],
    ['tool_error', 'error_transient', ['backoff', 'backoff', 'report', 'report']],
    ['too_slow', 'timeout', ['retry', 'hint', 'report', 'report']],
    ['tool_error', 'error_permanent', ['hint', 'report', 'report', 'report']],
    ['validation_error', 'error_permanent', ['hint', 'report', 'report', 'report']],
    ['unknown_tool', 'error_permanent', ['hint', 'report', 'report', 'report']],
    ['host_not_found', 'error_permanent', ['report', 'report', 'report', 'report']],
    ['unknown_outcome', 'unknown', ['report', 'report', 'report', 'report']],
  ])('%s (%s)', (errorType, status, expected) => {
    expect(strategies(failure(errorType, status))).toEqual(expected);
  });

  test.each<[string, ToolResultStatus, readonly string[]]>([
    ['http_403', 'error_blocked', ['fallbackTool', 'hint', 'report']],
    ['http_404', 'error_permanent', ['fallbackTool', 'hint', 'report']],
    ['http_401', 'error_blocked', ['fallbackTool', 'report', 'report']],
    ['http_429', 'error_transient', ['backoff', 'fallbackTool', 'report']],
    ['http_503', 'error_transient', ['backoff', 'backoff', 'fallbackTool']],
    ['timeout', 'timeout', ['retry', 'fallbackTool', 'hint']],
    ['parse_error', 'error_permanent', ['fallbackTool', 'hint', 'report']],
    ['tool_error', 'error_permanent', ['fallbackTool', 'hint', 'report']],
    ['host_not_found', 'error_permanent', ['fallbackTool', 'report', 'report']],
    ['circuit_open', 'error_transient', ['fallbackTool', 'report', 'report']],
    // A doubtful success is no failure yet: the model may look again first.
    ['empty_result', 'success', ['hint', 'hint', 'fallbackTool']],
  ])('a fallback tool comes before the model is told of %s (%s)', (type, status, expected) => {
    expect(strategies(failure(type, status), withFallback, {}, 3)).toEqual(expected);
    expect(
      route(failure(type, status), expected.indexOf('fallbackTool') + 1, defaults, withFallback),
    ).toMatchObject({ fallback: 'other' });
  });

  test.each([
    'validation_error',
    'unknown_tool',
    'guardrail_denied',
    'hook_refused',
    'hook_failed',
    'ssrf_blocked',
  ])('no other tool goes around %s', (errorType) => {
    expect(strategies(failure(errorType, 'error_permanent'), withFallback)).not.toContain(
      'fallbackTool',
    );
    const chains = { [errorType]: ['fallbackTool', 'report'] as const };
    expect(strategies(failure(errorType, 'error_permanent'), withFallback, { chains }, 1)).toEqual([
      'fallbackTool',
    ]);
  });

  test('a call that was refused goes to no other tool, but one of an open circuit does', () => {
    const refused = { wasMade: false } as const;
    expect(
      strategies(failure('permission_denied', 'error_blocked', refused), withFallback, {}, 1),
    ).toEqual(['report']);
    expect(
      strategies(failure('circuit_open', 'error_transient', refused), withFallback, {}, 1),
    ).toEqual(['fallbackTool']);
  });

  test('a fallback tool does not count as an attempt, and comes once', () => {
    const few = { attempts: 1 };
    const busy = failure('http_503', 'error_transient');
    expect(strategies(busy, withFallback, few, 2)).toEqual(['backoff', 'fallbackTool']);
    expect(strategies(busy, { ...withFallback, tried: ['other'] }, few, 2)).toEqual([
      'backoff',
      'report',
    ]);
    const chains = { http_503: [{ fallbackTool: 'other' }, 'report'] } as const;
    expect(strategies(busy, { ownRetry: false, tried: ['other'] }, { chains }, 1)).toEqual([
      'report',
    ]);
  });

  test('what came is given raw where it is there', () => {
    expect(strategies(failure('parse_error', 'error_permanent', { hasRaw: true }))).toEqual([
      'hint',
      'raw',
      'report',
      'report',
    ]);
  });

  test('what may do something twice is neither tried again nor followed by another tool', () => {
    expect(strategies(failure('http_503', 'error_transient', { mayRepeat: false }))).toEqual([
      'report',
      'report',
      'report',
      'report',
    ]);
    expect(strategies(failure('timeout', 'timeout', { mayRepeat: false }))).toEqual([
      'hint',
      'report',
      'report',
      'report',
    ]);
    expect(
      strategies(failure('http_403', 'error_blocked', { mayRepeat: false }), withFallback),
    ).toEqual(['hint', 'report', 'report', 'report']);
  });

  test('a tool that says itself how often it is tried is not tried again by its chain', () => {
    expect(strategies(failure('timeout', 'timeout'), { ownRetry: true })).toEqual([
      'hint',
      'report',
      'report',
      'report',
    ]);
  });
});

describe('delays', () => {
  test('grow with each backoff, up to the longest', () => {
    const chain: readonly Strategy[] = ['hint', 'backoff', 'backoff', 'backoff', 'backoff'];
    const options = {
      ...defaults,
      attempts: 9,
      chains: { busy: chain },
      initialDelayMs: 100,
      multiplier: 3,
      maxDelayMs: 1_000,
    };
    const delays = [2, 3, 4, 5].map(
      (attempt) => route(failure('busy', 'error_transient'), attempt, options, plain).delayMs,
    );
    expect(delays).toEqual([100, 300, 900, 1_000]);
  });

  test('are a random part of that with jitter, which the seed decides', () => {
    const options = { ...defaults, jitter: true };
    const delayOf = (retrySeed: string) =>
      route(failure('http_429', 'error_transient', { retrySeed }), 1, options, plain).delayMs;
    const delays = ['a', 'b', 'c', 'd'].map(delayOf);
    expect(new Set(delays).size).toBeGreaterThan(1);
    for (const delay of delays) expect(delay).toBeLessThanOrEqual(1_000);
    expect(['a', 'b', 'c', 'd'].map(delayOf)).toEqual(delays);
  });

  test('are what the other side asks for, also beyond the longest; retry is at once', () => {
    expect(
      route(failure('http_429', 'error_transient', { retryAfterMs: 90_000 }), 1, defaults, plain)
        .delayMs,
    ).toBe(90_000);
    expect(
      route(failure('http_429', 'error_transient', { retryAfterMs: 0 }), 1, defaults, plain)
        .delayMs,
    ).toBe(0);
    expect(route(failure('timeout', 'timeout'), 1, defaults, plain).delayMs).toBe(0);
  });
});

describe('chains that somebody wrote', () => {
  test('go before those by default, by type before by status', () => {
    const chains = {
      http_404: ['report'],
      error_transient: ['hint'],
      odd: ['hint', 'hint'],
    } as const;
    expect(strategies(failure('http_404', 'error_permanent'), plain, { chains }, 1)).toEqual([
      'report',
    ]);
    expect(strategies(failure('http_503', 'error_transient'), plain, { chains }, 2)).toEqual([
      'hint',
      'report',
    ]);
    expect(strategies(failure('odd', 'error_transient'), plain, { chains }, 3)).toEqual([
      'hint',
      'hint',
      'report',
    ]);
    // The default chain of 429 is more specific than that of transient failures.
    expect(strategies(failure('http_429', 'error_transient'), plain, { chains }, 1)).toEqual([
      'backoff',
    ]);
  });

  test('with `default` are for all failures that no other of them is for', () => {
    const chains = {
      http_404: ['report'],
      timeout: ['report'],
      default: ['hint', 'hint'],
    } as const;
    const first = (errorType: string, status: ToolResultStatus, more = {}) =>
      strategies(failure(errorType, status, more), plain, { chains }, 2);
    expect(first('http_404', 'error_permanent')).toEqual(['report', 'report']);
    expect(first('too_slow', 'timeout')).toEqual(['report', 'report']);
    for (const [errorType, status] of [
      ['http_429', 'error_transient'],
      ['http_503', 'error_transient'],
      ['tool_error', 'error_permanent'],
      ['odd', 'error_blocked'],
    ] as const)
      expect(first(errorType, status)).toEqual(['hint', 'hint']);
    // Faulty calls, open circuits and doubtful successes keep their own.
    expect(first('validation_error', 'error_permanent')).toEqual(['hint', 'report']);
    expect(first('circuit_open', 'error_transient')).toEqual(['report', 'report']);
    expect(
      strategies(failure('empty_result', 'success'), plain, { chains: { default: ['report'] } }, 1),
    ).toEqual(['hint']);
    // It was not written for refusals, so it repeats none.
    expect(
      strategies(failure('odd', 'error_blocked'), plain, { chains: { default: ['retry'] } }, 1),
    ).toEqual(['report']);
  });

  test('of a status go before the built-in one of a plain error', () => {
    const chains = { error_permanent: ['report'] } as const;
    expect(strategies(failure('tool_error', 'error_permanent'), plain, { chains }, 1)).toEqual([
      'report',
    ]);
  });

  test('take the fallback of the tool before `report`, unless they name one or escalate', () => {
    const inChain = (...chain: readonly Strategy[]) =>
      strategies(failure('odd', 'error_permanent'), withFallback, { chains: { odd: chain } }, 3);
    expect(inChain('report')).toEqual(['fallbackTool', 'report', 'report']);
    expect(inChain('hint')).toEqual(['hint', 'fallbackTool', 'report']);
    expect(inChain('hint', 'report')).toEqual(['hint', 'fallbackTool', 'report']);
    expect(inChain('fallbackTool', 'hint')).toEqual(['fallbackTool', 'hint', 'report']);
    expect(inChain('escalate')).toEqual(['escalate', 'escalate', 'escalate']);
  });

  test('do what they say: their hints, their tools, their escalation', () => {
    const chains = {
      odd: [{ hint: 'Use the index.' }, { fallbackTool: 'archive' }, { escalate: 'human' }],
    } as const;
    const options = { ...defaults, chains };
    expect(route(failure('odd', 'error_permanent'), 1, options, plain)).toMatchObject({
      strategy: 'hint',
      hint: 'Use the index.',
    });
    expect(route(failure('odd', 'error_permanent'), 2, options, plain)).toMatchObject({
      strategy: 'fallbackTool',
      fallback: 'archive',
    });
    expect(route(failure('odd', 'error_permanent'), 3, options, plain)).toMatchObject({
      strategy: 'escalate',
      escalateTo: 'human',
    });
    expect(route(failure('odd', 'error_permanent'), 4, options, plain)).toMatchObject({
      strategy: 'escalate',
      escalateTo: 'human',
    });
    expect(
      route(
        failure('odd', 'error_permanent'),
        9,
        { ...options, chains: { odd: ['escalate'] } },
        plain,
      ).escalateTo,
    ).toBe('caller');
  });

  test('may try again what was refused, which no default does', () => {
    expect(
      strategies(
        failure('http_403', 'error_blocked'),
        plain,
        { chains: { http_403: ['backoff', 'report'] } },
        2,
      ),
    ).toEqual(['backoff', 'report']);
    expect(strategies(failure('timeout', 'error_blocked'), plain, {}, 3)).toEqual([
      'hint',
      'report',
      'report',
    ]);
  });

  test('a tool that asks to be handed up is, at once', () => {
    expect(
      route(failure('http_503', 'error_transient', { escalate: true }), 1, defaults, plain),
    ).toMatchObject({
      strategy: 'escalate',
      escalateTo: 'caller',
    });
    const chains = { odd: ['hint', { escalate: 'failures' }] } as const;
    expect(
      route(
        failure('odd', 'error_permanent', { escalate: true }),
        1,
        { ...defaults, chains },
        plain,
      ).escalateTo,
    ).toBe('failures');
  });

  test('names of members of every object are no chains and no hints', () => {
    expect(strategies(failure('constructor', 'error_permanent'))).toEqual([
      'report',
      'report',
      'report',
      'report',
    ]);
    expect(hintFor('__proto__')).toBe(hintFor('never heard of'));
  });
});

describe('an exhausted chain', () => {
  test.each<[string, ToolResultStatus, RoutedTool, number]>([
    ['http_403', 'error_blocked', plain, 2],
    ['http_403', 'error_blocked', withFallback, 2],
    ['http_404', 'error_permanent', plain, 2],
    ['http_400', 'error_permanent', plain, 1],
    ['ssrf_blocked', 'error_blocked', plain, 1],
    ['unknown_tool', 'error_permanent', plain, 2],
    ['validation_error', 'error_permanent', plain, 2],
    ['http_503', 'error_transient', plain, 1],
    ['timeout', 'timeout', plain, 2],
    ['empty_result', 'success', plain, 3],
  ])('%s (%s) is one after so many calls', (errorType, status, tool, calls) => {
    expect(isChainExhausted(errorType, status, calls - 1, defaults, tool)).toBe(false);
    expect(isChainExhausted(errorType, status, calls, defaults, tool)).toBe(true);
  });

  test('is none while nobody knows what became of the call', () => {
    expect(isChainExhausted('unknown_outcome', 'unknown', 9, defaults, plain)).toBe(false);
  });

  test('calls stand for the steps that they took', () => {
    const chains = { odd: ['backoff', 'hint', 'retry', 'hint', 'report'] } as const;
    const options = { ...defaults, attempts: 9, chains };
    expect(
      [0, 1, 2, 3, 4].map((calls) =>
        attemptsBehind(calls, failure('odd', 'error_transient'), options, plain),
      ),
    ).toEqual([0, 2, 4, 5, 6]);
  });
});

const anyStrategy: fc.Arbitrary<Strategy> = fc.oneof(
  fc.constantFrom('retry', 'backoff', 'hint', 'raw', 'fallbackTool', 'escalate', 'report'),
  fc.constantFrom<Strategy>({ hint: 'a' }, { fallbackTool: 'b' }, { escalate: 'human' }),
);
const anyStatus = fc.constantFrom<ToolResultStatus>(
  'error_transient',
  'error_permanent',
  'error_blocked',
  'timeout',
  'success',
);
const anyFailure = fc.record({
  errorType: fc.constantFrom(
    'http_403',
    'http_429',
    'timeout',
    'parse_error',
    'tool_error',
    'given',
    'x',
  ),
  status: anyStatus,
  wasMade: fc.boolean(),
  mayRepeat: fc.boolean(),
  hasRaw: fc.boolean(),
  escalate: fc.boolean(),
});
const anyTool = fc.record({
  ownRetry: fc.boolean(),
  fallback: fc.option(fc.constant('other'), { nil: undefined }),
});
const anyOptions = fc.record({
  chains: fc.dictionary(
    fc.constantFrom('given', 'http_429', 'error_permanent'),
    fc.array(anyStrategy, { maxLength: 6 }),
    { noNullPrototype: true },
  ),
  severities: fc.constant({}),
  bySeverity: fc.record(
    { medium: fc.array(anyStrategy, { maxLength: 6 }) },
    { requiredKeys: [], noNullPrototype: true },
  ),
  attempts: fc.integer({ min: 1, max: 5 }),
  initialDelayMs: fc.integer({ min: 0, max: 5_000 }),
  multiplier: fc.integer({ min: 1, max: 4 }),
  jitter: fc.boolean(),
  maxDelayMs: fc.integer({ min: 1, max: 60_000 }),
  escalateTo: fc.constantFrom('caller' as const, 'human' as const, 'failures' as const),
});

describe('properties', () => {
  test('what may do something twice never goes on, and only what is there is used', () => {
    fc.assert(
      fc.property(
        anyFailure,
        fc.integer({ min: 1, max: 9 }),
        anyOptions,
        anyTool,
        (of, attempt, options, tool) => {
          const routing = route(of, attempt, options, tool);
          const { strategy } = routing;
          if (!of.mayRepeat) expect(['retry', 'backoff', 'fallbackTool']).not.toContain(strategy);
          if (tool.ownRetry) expect(['retry', 'backoff']).not.toContain(strategy);
          if (strategy === 'raw') expect(of.hasRaw).toBe(true);
          if (of.escalate) expect(strategy).toBe('escalate');
          if (attempt > options.attempts)
            expect(['report', 'escalate', 'fallbackTool']).toContain(strategy);
          if (strategy === 'backoff')
            expect(routing.delayMs).toBeLessThanOrEqual(options.maxDelayMs);
          expect(routing.alternatives).not.toContain(strategy);
          expect(routing).toEqual(route(of, attempt, options, tool));
        },
      ),
    );
  });

  test(
    'failing again and again ends: no call goes on for more attempts than one cause gets, ' +
      'and every chain is exhausted at last',
    () => {
      fc.assert(
        fc.property(anyFailure, anyOptions, anyTool, (of, options, tool) => {
          let attempt = 1;
          const tried: string[] = [];
          for (;;) {
            const { strategy, fallback } = route(of, attempt, options, { ...tool, tried });
            if (!['retry', 'backoff', 'fallbackTool'].includes(strategy)) break;
            if (fallback !== undefined) tried.push(fallback);
            attempt++;
          }
          expect(new Set(tried).size).toBe(tried.length);
          expect(attempt).toBeLessThanOrEqual(options.attempts + 1 + tried.length);
          expect(isChainExhausted(of.errorType, of.status, 9, options, tool)).toBe(true);
        }),
      );
    },
  );

  test('once exhausted, always exhausted', () => {
    fc.assert(
      fc.property(
        anyFailure,
        anyOptions,
        anyTool,
        fc.integer({ min: 0, max: 8 }),
        ({ errorType, status }, options, tool, calls) => {
          if (!isChainExhausted(errorType, status, calls, options, tool)) return;
          expect(isChainExhausted(errorType, status, calls + 1, options, tool)).toBe(true);
        },
      ),
    );
  });
});
