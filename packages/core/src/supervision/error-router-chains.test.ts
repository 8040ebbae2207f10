import { describe, expect, test } from 'vitest';
import {
  defaults,
  failure,
  plain,
  strategies,
  withFallback,
} from '../../test/supervision/routed-failures.ts';
import type { ToolResultStatus } from '../ledger/tool-result.ts';
import { hintFor } from './error-chains.ts';
import { route } from './error-router.ts';
import type { Strategy } from './options.ts';

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
