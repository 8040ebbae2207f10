import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolResultStatus } from '../ledger/tool-result.ts';
import { isChainExhausted, route } from './error-router.ts';
import type { Strategy } from './options.ts';

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
