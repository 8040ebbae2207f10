import { describe, expect, test } from 'vitest';
import {
  defaults,
  failure,
  plain,
  strategies,
  withFallback,
} from '../../test/supervision/routed-failures.ts';
import type { ToolResultStatus } from '../ledger/tool-result.ts';
import { attemptsBehind, isChainExhausted, type RoutedTool, route } from './error-router.ts';
import type { Strategy } from './options.ts';

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
