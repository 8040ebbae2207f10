import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { retryDelay } from '../../base/retry-options.ts';
import type { Model } from '../model.ts';
import { retryOf } from '../retry.ts';
import { costOf, priceOf } from './price.ts';
import { priceTableDate } from './price-table.ts';
import { contextWindowOf } from './window.ts';

function model(modelId: string, more: Partial<Model> = {}): Model {
  return {
    kind: 'model',
    provider: 'test',
    modelId,
    settings: {},
    load: () => Promise.reject(new Error('not used')),
    ...more,
  };
}

describe('prices', () => {
  test.each([
    ['gpt-5-mini', 0.25],
    ['gpt-5-mini-2025-08-07', 0.25],
    ['gpt-5', 1.25],
    ['claude-sonnet-4-5-20250929', 3],
    ['claude-opus-4-1@20250805', 15],
    ['anthropic.claude-opus-4-1-20250805-v1:0', 15],
    ['claude-opus-4-20250514', 15],
    ['claude-opus-4-0', 15],
    ['claude-opus-4-5', 5],
    ['models/gemini-2.5-flash', 0.3],
    ['gemini-2.0-flash-001', 0.1],
    ['gemini-3-flash-preview', 0.5],
  ])('%s', (modelId, input) => {
    expect(priceOf(model(modelId))?.input).toBe(input);
  });

  test.each(['gpt-5-mini-turbo', 'qwen3', 'gpt-55', 'toString', '__proto__', ''])(
    '"%s" has no known price',
    (modelId) => {
      expect(costOf(model(modelId), { inputTokens: 1, outputTokens: 1 })).toBeUndefined();
    },
  );

  test('cached and written input are priced apart', () => {
    const usage = {
      inputTokens: 1_000_000,
      outputTokens: 100_000,
      cachedInputTokens: 400_000,
      cacheWriteTokens: 200_000,
    };
    expect(costOf(model('claude-sonnet-4-5'), usage)).toBeCloseTo(
      0.4 * 3 + 0.4 * 0.3 + 0.2 * 3.75 + 0.1 * 15,
      10,
    );
    const plain = model('x', { price: { input: 2, output: 4 } });
    expect(costOf(plain, usage)).toBeCloseTo(2 + 0.4, 10);
  });

  test('an override wins over the model, the model over the table', () => {
    const own = model('gpt-5', { price: { input: 9, output: 9 } });
    const usage = { inputTokens: 1_000_000, outputTokens: 0 };
    expect(costOf(own, usage)).toBe(9);
    expect(costOf(own, usage, { 'gpt-5': { input: 7, output: 0 } })).toBe(7);
    expect(
      costOf(own, usage, {
        'gpt-5': { input: 7, output: 0 },
        'test:gpt-5': { input: 6, output: 0 },
      }),
    ).toBe(6);
  });

  test('the table is dated', () => {
    expect(Date.parse(priceTableDate)).toBeGreaterThan(Date.parse('2026-01-01'));
  });
});

describe('windows', () => {
  test('a setting wins over what is known, and 128,000 is assumed of unknown models', () => {
    expect(contextWindowOf(model('gpt-4.1-2025-04-14'))).toBe(1_047_576);
    expect(contextWindowOf(model('gpt-4.1', { contextWindow: 5 }))).toBe(5);
    expect(contextWindowOf(model('qwen3'))).toBe(128_000);
  });
});

describe('retryDelay', () => {
  const retry = retryOf({});

  test('the defaults are three attempts from one second to thirty', () => {
    expect(retry).toEqual({
      attempts: 3,
      initialDelayMs: 1_000,
      multiplier: 2,
      maxDelayMs: 30_000,
      jitter: true,
    });
    expect(retryOf({ retry: { attempts: 5 } })).toEqual({ ...retry, attempts: 5 });
    const ofApp = { ...retry, attempts: 2, jitter: false };
    expect(retryOf({ retry: { attempts: 5 } }, ofApp)).toEqual({ ...ofApp, attempts: 5 });
  });

  test('the delay is anything up to the exponential one, and never more than the longest', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, random) => {
          const delay = retryDelay(retry, attempt, () => random);
          const ceiling = Math.min(30_000, 1_000 * 2 ** (attempt - 1));
          expect(delay).toBe(Math.round(random * ceiling));
        },
      ),
    );
  });

  test('without jitter the delay is exactly the exponential one', () => {
    const exact = retryOf({ retry: { jitter: false } });
    const never = () => {
      throw new Error('nothing is drawn');
    };
    expect([1, 2, 9].map((failures) => retryDelay(exact, failures, never))).toEqual([
      1_000, 2_000, 30_000,
    ]);
  });
});
