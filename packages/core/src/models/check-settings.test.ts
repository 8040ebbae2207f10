import { describe, expect, test } from 'vitest';
import type { Model } from './model.ts';
import { claude } from './providers/claude.ts';
import { gemini } from './providers/gemini.ts';
import { openai } from './providers/openai.ts';
import { openaiCompatible } from './providers/openai-compatible.ts';

/** As JavaScript calls it, where no compiler has checked the settings. */
type Unchecked = (...args: readonly unknown[]) => Model;

const providers: readonly (readonly [string, (settings: object) => Model])[] = [
  ['openai:m', (settings) => openai('m', settings)],
  ['gemini:m', (settings) => gemini('m', settings)],
  ['claude:m', (settings) => claude('m', settings)],
  ['claude:m', (settings) => claude('m', {}, settings)],
  [
    'openai-compatible:m',
    (settings) => openaiCompatible({ model: 'm', baseURL: 'http://127.0.0.1:1/v1', ...settings }),
  ],
];

function refusal(act: () => unknown): { code?: string; message?: string } {
  try {
    act();
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('The settings were taken.');
}

describe.each(providers)('%s', (name, make) => {
  test.each<[object, string]>([
    [{ temperature: 'hot' }, '`temperature` must be a number from 0, not "hot"'],
    [{ timeoutMs: -5 }, '`timeoutMs` must be a number greater than 0, not -5'],
    [{ maxTokens: 1.5 }, '`maxTokens` must be a whole number from 1, not 1.5'],
    [{ stopSequences: 'stop' }, '`stopSequences` must be a list of strings, not "stop"'],
    [{ retry: { attempts: 0 } }, '`retry`: `attempts` must be a whole number from 1, not 0'],
    [
      { retry: { maxAttempts: 3 } },
      '`retry`: there is no option `maxAttempts` (it is called `attempts` now)',
    ],
    [{ retry: 3 }, '`retry`: the options must be an object, not 3'],
    [{ temprature: 1 }, 'there is no option `temprature` (did you mean `temperature`?)'],
    [{ price: { input: 1 } }, '`price` must be an object with `input` and `output`'],
  ])('%j', (settings, reason) => {
    const { code, message } = refusal(() => make(settings));
    expect(code).toBe('invalid_model');
    expect(message).toContain(`The model ${name} cannot be used: ${reason}`);
  });

  test('what may be secret is not shown', () => {
    const wrong = [
      { apiKey: { key: 'secret' } },
      { apiKey: [] },
      { apiKey: ['secret', ''] },
      { apiKey: ['secret', 1] },
      { apikey: 'secret' },
      { headers: 'X-Key: secret' },
    ];
    for (const settings of wrong)
      expect(refusal(() => make(settings)).message).not.toContain('secret');
  });

  test('takes settings that are right, or not set', () => {
    const retry = { attempts: 1, initialDelayMs: 0, multiplier: 1, maxDelayMs: 0 };
    const model = make({
      temperature: 0,
      topK: -1,
      seed: 0,
      retry,
      apiKey: undefined,
      timeoutMs: undefined,
      price: { input: 0, output: 0 },
    });
    expect(model.settings).toMatchObject({ temperature: 0, retry });
  });
});

test.each<[() => unknown, string]>([
  [
    () => openai('m', { reasoning: { effort: 'huge' as 'high' } }),
    "`reasoning`: `effort` must be one of 'minimal', 'low', 'medium', 'high', not \"huge\"",
  ],
  [
    () => openai('m', { endpoints: [{ type: 'openai' }, { type: 'other' as 'openai' }] }),
    "`endpoints[1]`: `type` must be one of 'azure', 'openai'",
  ],
  [
    () => openai('m', { endpoints: [{} as { type: 'openai' }] }),
    '`endpoints[0]`: `type` is missing',
  ],
  [
    () => openai('m', { endpoints: [{ type: 'azure', api: 'chat' } as { type: 'azure' }] }),
    '`endpoints[0]`: there is no option `api`',
  ],
  [
    () => gemini('m', { thinkingConfig: { thinkingBudget: -2 } }),
    '`thinkingConfig`: `thinkingBudget` must be a whole number from 0, not -2',
  ],
  [() => gemini('m', { vertex: { place: 'x' } as object }), '`vertex`: there is no option `place`'],
  [
    () => claude('m', { thinking: {} as { budgetTokens: number } }),
    '`thinking` needs `budgetTokens`',
  ],
  [() => (openai as Unchecked)(), 'openai cannot be used: the id of the model comes first'],
  [() => (gemini as Unchecked)(), 'gemini cannot be used: the id of the model comes first'],
  [() => (claude as Unchecked)({ temperature: 1 }), "claude('claude-sonnet-4-5')"],
  [() => (openaiCompatible as Unchecked)(), 'the options must be an object, not undefined'],
  [() => (openaiCompatible as Unchecked)({ baseURL: 'http://127.0.0.1/v1' }), '`model` is missing'],
  [() => (openaiCompatible as Unchecked)({ model: 'm' }), '`baseURL` is missing'],
])('%s', (act, reason) => {
  expect(refusal(act)).toMatchObject({
    code: 'invalid_model',
    message: expect.stringContaining(reason),
  });
});

test.each([
  ['http://user:pa55word@host/v1', 'without user name and password'],
  ['http://pa55word@host/v1', 'without user name and password'],
  ['http://host/v1?api_key=pa55word', 'without "?" and "#"'],
  ['pa55word@host/v1', 'begins with http:// or https://'],
])('the address %s is refused and not repeated', (url, reason) => {
  const makers = [
    () => openaiCompatible({ model: 'm', baseURL: url }),
    () => openai('m', { endpoints: [{ type: 'openai', baseUrl: url }] }),
    () => claude('m', { baseUrl: url }),
    () => gemini('m', { baseUrl: url }),
  ];
  for (const make of makers) {
    const failure = refusal(make);
    expect(failure).toMatchObject({
      code: 'invalid_model',
      message: expect.stringContaining(reason),
    });
    expect(`${failure.message} ${JSON.stringify(failure)}`).not.toContain('pa55word');
  }
});

test.each(['OPENAI_BASE_URL', 'AZURE_OPENAI_ENDPOINT'])(
  'an address of %s that cannot be used is named when the model is loaded',
  async (variable) => {
    const env = {
      OPENAI_API_KEY: 'k',
      AZURE_OPENAI_API_KEY: 'k',
      [variable]: 'https://user:pa55word@host',
    };
    const failure: unknown = await Promise.resolve()
      .then(() => openai('m', { env }).load())
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'invalid_model',
      message: expect.stringContaining(`${variable} must be a URL without user name`),
    });
    expect(JSON.stringify(failure)).not.toContain('pa55word');
  },
);
