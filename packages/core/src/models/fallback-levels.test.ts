import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelErrorKind } from './error-kind.ts';
import { fallbackLevels, type LevelFailure, nextFallbackLevel } from './fallback-levels.ts';
import { type Model, toModel } from './model.ts';
import { claude } from './providers/claude.ts';
import { gemini } from './providers/gemini.ts';
import { openai } from './providers/openai.ts';
import { openaiCompatible } from './providers/openai-compatible.ts';

const plain = (modelId: string, contextWindow = 128_000): Model => ({
  kind: 'model',
  provider: 'p',
  modelId,
  settings: {},
  contextWindow,
  load: () => ({}) as never,
});
const env = { OPENAI_API_KEY: 'sk-one, sk-two ,' };
/**
 * 0: own effort, key 1; 1: key 2; 2: medium, key 1; 3: key 2; 4: low, key 1; 5: key 2; 6: another
 * model; 7: one with a larger window.
 */
const levels = fallbackLevels([
  openai('gpt-4o', { env, reasoning: { effort: 'high' } }),
  plain('small', 64_000),
  plain('large', 2_000_000),
]);

test('goes through keys, then lower efforts, then models', () => {
  expect(levels.map(({ label }) => label)).toEqual([
    'openai:gpt-4o',
    'openai:gpt-4o, key 2',
    'openai:gpt-4o, medium effort',
    'openai:gpt-4o, key 2, medium effort',
    'openai:gpt-4o, low effort',
    'openai:gpt-4o, key 2, low effort',
    'p:small',
    'p:large',
  ]);
  expect(
    levels.map(({ model }) => model.settings.providerOptions?.['openai']?.['reasoningEffort']),
  ).toEqual(['high', 'high', 'medium', 'medium', 'low', 'low', undefined, undefined]);
  expect(JSON.stringify(levels)).not.toMatch(/sk-one|sk-two/);
});

test('a model without keys and efforts is one level, and the first level is the model itself', () => {
  const foreign = toModel({ specificationVersion: 'v4', provider: 'x', modelId: 'y' } as never);
  expect(fallbackLevels([foreign])).toEqual([
    { model: foreign, label: 'x:y', modelIndex: 0, effortIndex: 0, key: 1 },
  ]);
  const own = claude('claude-sonnet-4-5', { apiKey: 'a', thinking: { budgetTokens: 16_000 } });
  expect(fallbackLevels([own])[0]?.model).toBe(own);
  expect(fallbackLevels([own])[1]?.model).toBe(fallbackLevels([own])[1]?.model);
});

/** From each of the levels 0, 1, 2, 5, 6 and 7. */
const table: { readonly [Kind in ModelErrorKind]: readonly (number | undefined)[] } = {
  auth: [1, 6, 3, 6, 7, undefined],
  rate_limit: [1, 3, 3, 6, 7, undefined],
  timeout: [2, 3, 4, 6, 7, undefined],
  overloaded: [2, 3, 4, 6, 7, undefined],
  output_limit: [2, 3, 4, 6, 7, undefined],
  server: [6, 6, 6, 6, 7, undefined],
  connection: [6, 6, 6, 6, 7, undefined],
  malformed: [6, 6, 6, 6, 7, undefined],
  content_filter: [6, 6, 6, 6, 7, undefined],
  refusal: [6, 6, 6, 6, 7, undefined],
  model_not_found: [6, 6, 6, 6, 7, undefined],
  invalid_request: [6, 6, 6, 6, 7, undefined],
  missing_key: [6, 6, 6, 6, 7, undefined],
  missing_package: [6, 6, 6, 6, 7, undefined],
  unknown: [6, 6, 6, 6, 7, undefined],
  // The window of level 6 is smaller than that of gpt-4o.
  context_overflow: [7, 7, 7, 7, 7, undefined],
  aborted: [undefined, undefined, undefined, undefined, undefined, undefined],
};

describe('nextFallbackLevel', () => {
  test.each(Object.entries(table))('%s', (kind, expected) => {
    expect(
      [0, 1, 2, 5, 6, 7].map((level) =>
        nextFallbackLevel(levels, level, { kind: kind as ModelErrorKind }),
      ),
    ).toEqual(expected);
  });

  test('a spent quota is not helped by less reasoning', () => {
    const spent: LevelFailure = { kind: 'rate_limit', retryable: false };
    expect([0, 1, 2, 3].map((level) => nextFallbackLevel(levels, level, spent))).toEqual([
      1, 6, 3, 6,
    ]);
  });

  test('there is nothing behind the last level, nor behind one that does not exist', () => {
    expect(nextFallbackLevel(levels, 8, { kind: 'server' })).toBeUndefined();
    expect(nextFallbackLevel(fallbackLevels([plain('only')]), 0, { kind: 'auth' })).toBeUndefined();
  });

  test('a larger window is looked for behind the present model only', () => {
    const models = fallbackLevels([
      plain('large', 1_000_000),
      plain('small', 8_000),
      plain('middle', 500_000),
    ]);
    expect(
      [0, 1].map((level) => nextFallbackLevel(models, level, { kind: 'context_overflow' })),
    ).toEqual([undefined, 2]);
  });

  test('whatever fails, the levels end', () => {
    const kinds = fc.constantFrom(...(Object.keys(table) as ModelErrorKind[]));
    fc.assert(
      fc.property(fc.array(kinds, { minLength: 20, maxLength: 20 }), (failures) => {
        let level: number | undefined = 0;
        for (const kind of failures) {
          const next: number | undefined =
            level === undefined ? undefined : nextFallbackLevel(levels, level, { kind });
          if (next !== undefined && level !== undefined) expect(next).toBeGreaterThan(level);
          level = next;
        }
        expect(level).toBeUndefined();
      }),
    );
  });
});

describe('what providers offer', () => {
  const keys = (model: Model) => model.variants?.countKeys();

  test.each([
    ['one', openai('gpt-5', { apiKey: 'a' }), 1],
    ['a list', openai('gpt-5', { apiKey: ['a', 'b', 'c'] }), 3],
    ['a comma in a key that is given', openai('gpt-5', { apiKey: 'a,b' }), 1],
    ['the environment', openai('gpt-5', { env: { OPENAI_API_KEY: 'a,b' } }), 2],
    [
      'the endpoint with most keys',
      openai('gpt-5', { env: { OPENAI_API_KEY: 'a', OPENAI_EU_API_KEY: 'b,c,d' } }),
      3,
    ],
    [
      'Azure without an address',
      openai('gpt-5', { env: { OPENAI_API_KEY: 'a', AZURE_OPENAI_API_KEY: 'b,c' } }),
      1,
    ],
    [
      'Azure',
      openai('gpt-5', {
        env: { AZURE_OPENAI_ENDPOINT: 'https://a.openai.azure.com', AZURE_OPENAI_API_KEY: 'b,c' },
      }),
      2,
    ],
    ['no key', openai('gpt-5', { env: {} }), 0],
    ['Gemini', gemini('gemini-2.5-pro', { env: { GEMINI_API_KEY: 'a,b' } }), 2],
    ['Vertex', gemini('gemini-2.5-pro', { env: { GEMINI_API_KEY: 'a,b' }, project: 'p' }), 1],
    ['Claude', claude('claude-sonnet-4-5', { apiKey: ['a', 'b'] }), 2],
    [
      'a server',
      openaiCompatible({ baseURL: 'http://127.0.0.1:1/v1', model: 'm', apiKey: ['a', 'b'] }),
      2,
    ],
    [
      'a server without keys',
      openaiCompatible({ baseURL: 'http://127.0.0.1:1/v1', model: 'm' }),
      0,
    ],
  ] as const)('keys: %s', (_what, model, count) => {
    expect(keys(model)).toBe(count);
    expect(fallbackLevels([model]).length).toBe(Math.max(1, count));
  });

  test('keys that the environment gets later are seen', () => {
    const later: Record<string, string> = { OPENAI_API_KEY: 'a' };
    const model = openai('gpt-5', { env: later });
    later['OPENAI_API_KEY'] = 'a,b';
    expect(fallbackLevels([model])).toHaveLength(2);
  });

  test.each([
    [
      'high',
      openai('gpt-5', { apiKey: 'a', reasoning: { effort: 'high' } }),
      ['medium effort', 'low effort'],
    ],
    ['low', openai('gpt-5', { apiKey: 'a', reasoning: { effort: 'low' } }), []],
    ['no effort', openai('gpt-4o', { apiKey: 'a' }), []],
    [
      'an effort that providerOptions fix',
      openai('gpt-5', {
        apiKey: 'a',
        reasoning: { effort: 'high' },
        providerOptions: { openai: { reasoningEffort: 'high' } },
      }),
      [],
    ],
    [
      'a level',
      gemini('gemini-3-pro-preview', { thinkingConfig: { thinkingLevel: 'high' } }),
      ['low thinking'],
    ],
    [
      'a budget',
      gemini('gemini-2.5-pro', { thinkingConfig: { thinkingBudget: 16_000 } }),
      ['4000 thinking tokens', '1024 thinking tokens'],
    ],
    [
      'a free budget',
      gemini('gemini-2.5-pro', { thinkingConfig: { thinkingBudget: -1 } }),
      ['1024 thinking tokens'],
    ],
    ['no thinking', gemini('gemini-2.5-flash', { thinkingConfig: { thinkingBudget: 0 } }), []],
    [
      'a small budget',
      claude('claude-sonnet-4-5', { thinking: { budgetTokens: 2_000 } }),
      ['1024 thinking tokens'],
    ],
    ['the smallest budget', claude('claude-sonnet-4-5', { thinking: { budgetTokens: 1_024 } }), []],
  ] as const)('efforts: %s', (_what, model, efforts) => {
    expect(model.variants?.efforts).toEqual(efforts);
  });

  test('a lower effort reaches the provider as its own option', () => {
    const options = (model: Model) =>
      fallbackLevels([model]).at(-1)?.model.settings.providerOptions;
    const thinkingConfig = { thinkingBudget: 16_000, includeThoughts: true };
    expect(options(gemini('gemini-2.5-pro', { apiKey: 'a', thinkingConfig }))).toEqual({
      google: { thinkingConfig: { thinkingBudget: 1_024, includeThoughts: true } },
    });
    expect(
      options(claude('claude-sonnet-4-5', { apiKey: 'a', thinking: { budgetTokens: 8_000 } })),
    ).toEqual({
      anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } },
    });
  });
});
