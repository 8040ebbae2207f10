import { type AgentOptions, agent, claude, run } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';

describe('an agent takes models by name', () => {
  test('a name', () => {
    const { model } = agent({ name: 'clerk', model: 'openai:gpt-5-mini' });
    expect(model).toMatchObject({ kind: 'model', provider: 'openai', modelId: 'gpt-5-mini' });
  });

  test('names in a list, beside models', () => {
    const { model, fallbackModels } = agent({
      name: 'clerk',
      model: ['gemini:gemini-3-flash-preview', claude('claude-sonnet-4-5'), 'ollama:qwen3'],
    });
    expect([model, ...fallbackModels]).toMatchObject([
      { provider: 'gemini' },
      { provider: 'claude' },
      { provider: 'ollama', modelId: 'qwen3' },
    ]);
  });

  test('names among the fallback models of a definition that is spread', () => {
    const clerk = agent({ name: 'clerk', model: ['rehearsal', 'rehearsal'] });
    const options = { ...clerk, model: 'rehearsal', fallbackModels: ['ollama:qwen3'] };
    expect(agent(options as unknown as AgentOptions).fallbackModels).toMatchObject([
      { provider: 'ollama' },
    ]);
  });

  test('and asks them', async () => {
    const { status } = await run(agent({ name: 'clerk', model: 'rehearsal' }), 'Hello');
    expect(status).toBe('completed');
  });
});

test.each([
  ['opnai:gpt-5', '"opnai" is not a provider. Did you mean "openai:gpt-5"?'],
  ['gpt-5-mini', 'it names no provider. Did you mean "openai:gpt-5-mini"?'],
  ['openai/gpt-5', 'it names no provider. Did you mean "openai:gpt-5"?'],
  ['anthropic:claude-x', '"anthropic" is not a provider. Did you mean "claude:claude-x"?'],
  ['openai:', 'the model is missing after "openai:".'],
])('%s is refused at the definition', (name, told) => {
  const expected =
    `The agent "clerk" cannot be defined: "${name}" does not name a model: ${told} Write one of: ` +
    'openai:gpt-5-mini, gemini:gemini-3-flash-preview, claude:claude-sonnet-4-5, ollama:<model>, ' +
    'openai-compatible:<model>@<base URL>, rehearsal.';
  expect(() => agent({ name: 'clerk', model: name })).toThrow(expected);
  expect(() => agent({ name: 'clerk', model: [scriptedModel([]), name] })).toThrow(expected);
});

test('what is no model at all is told with the forms', () => {
  expect(() => agent({ name: 'clerk', model: 5 as unknown as string })).toThrow(
    'The agent "clerk" cannot be defined: `model` must be a model such as openai(\'gpt-5-mini\') ' +
      "or its name 'openai:gpt-5-mini', an AI SDK model, or a list of models, not 5.",
  );
});
