import { describe, expect, test } from 'vitest';
import { modelName } from './model.ts';
import { modelFromEnvironment, parseModelName } from './model-name.ts';

describe('parseModelName', () => {
  test.each([
    ['openai:gpt-5-mini', 'openai:gpt-5-mini'],
    ['gemini:gemini-3-flash-preview', 'gemini:gemini-3-flash-preview'],
    [' claude:claude-sonnet-4-5 ', 'claude:claude-sonnet-4-5'],
    ['ollama:qwen3:8b', 'ollama:qwen3:8b'],
    ['openai-compatible:org/model@v2@http://localhost:8000/v1', 'openai-compatible:org/model@v2'],
    ['rehearsal', 'rehearsal:rules'],
  ])('%s', (text, name) => {
    expect(modelName(parseModelName(text))).toBe(name);
  });

  test.each([
    ['opnai:gpt-5', 'openai:gpt-5'],
    ['anthropic:claude-x', 'claude:claude-x'],
    ['google:gemini-x', 'gemini:gemini-x'],
    ['olama:qwen3', 'ollama:qwen3'],
    ['rehersal', 'rehearsal'],
    ['gpt-5-mini', 'openai:gpt-5-mini'],
    ['openai/gpt-5', 'openai:gpt-5'],
    ['anthropic/claude-x', 'claude:claude-x'],
    ['claude-sonnet-4-5', 'claude:claude-sonnet-4-5'],
    ['gemini-2.5-pro', 'gemini:gemini-2.5-pro'],
  ])('"%s" is refused with a suggestion', (text, nearest) => {
    expect(() => parseModelName(text)).toThrow(
      expect.objectContaining({
        code: 'invalid_model_name',
        data: expect.objectContaining({ nearest }),
      }),
    );
    expect(() => parseModelName(text)).toThrow(
      `Did you mean "${nearest}"? Write one of: openai:gpt-5-mini`,
    );
  });

  test.each([
    ['mistral:mistral-large-latest', '@ai-sdk/mistral'],
    ['groq', '@ai-sdk/groq'],
    ['xai/grok-4', '@ai-sdk/xai'],
  ])('"%s" is refused with what to install', (text, install) => {
    expect(() => parseModelName(text)).toThrow(
      expect.objectContaining({
        code: 'invalid_model_name',
        data: expect.objectContaining({ install }),
      }),
    );
    expect(() => parseModelName(text)).toThrow(
      `Run "npm install ${install}", and give a model of it instead of a name. Write one of: `,
    );
  });

  test.each([
    '',
    'xyz',
    'toString:x',
    'openai:',
    'openai-compatible:model',
    'openai-compatible:model@localhost:8000',
    'openai-compatible:@http://x',
  ])('"%s" is refused with the forms', (text) => {
    expect(() => parseModelName(text)).toThrow('openai-compatible:<model>@<base URL>');
  });
});

test.each([
  ['openai-compatible:m@http://user:pa55word@host:8000/v1', 'openai-compatible:m@…@host:8000/v1'],
  ['openai-compatible:m@http://user:pa55word/x@host/v1', 'openai-compatible:m@…@host/v1'],
  ['openai-compatible:m@https://pa55word@host/v1', 'openai-compatible:m@…@host/v1'],
  ['openai-compatible:m@https://host/v1?api_key=pa55word', 'openai-compatible:m@https://host/v1?…'],
  ['openai-compatible:m@https://host/v1#pa55word', 'openai-compatible:m@https://host/v1?…'],
  ['openai-compatible:m@user:pa55word@host', 'openai-compatible:m@…@host'],
  ['opnai:http://user:pa55word@host', 'opnai:http://…@host'],
  ['http://user:pa55word@host', 'http://…@host'],
])('"%s" is refused, and what may be secret in it is not repeated', (text, shown) => {
  for (const read of [
    () => parseModelName(text),
    () => modelFromEnvironment({ ADJUTANT_MODEL: text }),
  ]) {
    const failure = thrownBy(read);
    expect(failure).toMatchObject({ code: 'invalid_model_name', data: { name: shown } });
    expect(`${String(failure)} ${JSON.stringify(failure)}`).not.toContain('pa55word');
  }
});

test('the key of an OpenAI-compatible server comes from the environment', async () => {
  const model = await parseModelName('openai-compatible:m@http://127.0.0.1:1/v1', {
    OPENAI_COMPATIBLE_API_KEY: 'k',
  }).load();
  const { headers } = (model as unknown as { config: { headers: () => Record<string, string> } })
    .config;
  expect(headers()).toMatchObject({ authorization: 'Bearer k' });
});

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

describe('modelFromEnvironment', () => {
  test.each([
    [{}, undefined],
    [{ ADJUTANT_MODEL: 'ollama:qwen3', OPENAI_API_KEY: 'k' }, 'ollama:qwen3'],
    [{ ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k', OPENAI_API_KEY: 'k' }, 'openai:gpt-5-mini'],
    [{ AZURE_OPENAI_ENDPOINT: 'https://a.openai.azure.com' }, undefined],
    [
      { AZURE_OPENAI_ENDPOINT: 'https://a.openai.azure.com', AZURE_OPENAI_API_KEY: 'k' },
      'openai:gpt-5-mini',
    ],
    [
      { ANTHROPIC_API_KEY: 'k', GOOGLE_GENERATIVE_AI_API_KEY: 'k' },
      'gemini:gemini-3-flash-preview',
    ],
    [{ ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: '' }, 'claude:claude-sonnet-4-5'],
  ] as [Record<string, string>, string | undefined][])('%o', (env, expected) => {
    const model = modelFromEnvironment(env);
    expect(model && modelName(model)).toBe(expected);
  });

  test('a wrong ADJUTANT_MODEL is not passed over', () => {
    expect(() => modelFromEnvironment({ ADJUTANT_MODEL: 'nonsense', OPENAI_API_KEY: 'k' })).toThrow(
      'does not name a model',
    );
  });
});
