import { type AgentOptions, agent, claude, run, runtime, textProtocol } from 'adjutant';
import { simulatedUser } from 'adjutant/conversation';
import { evaluate, judgedGroundedness, rubric } from 'adjutant/eval';
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
    expect(agent(options as AgentOptions).fallbackModels).toMatchObject([{ provider: 'ollama' }]);
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

describe('whatever else takes a model takes its name', () => {
  const criteria = { short: 'The answer is short.' };
  const plan = { startingPrompt: 'Hello', conversationPlan: 'Say hello.' };
  const model = scriptedModel(() => ({ text: 'Hello' }));
  const compaction = (name: string) => ({ compaction: { model: name } });
  const evaluated = (userModel: string) =>
    evaluate({
      name: 'greetings',
      dataset: [{ id: 'one', input: 'Hello', expect: { response: 'Hello' } }],
      variants: [
        { name: 'now', app: runtime({ app: 'evals' }), runnable: agent({ name: 'clerk', model }) },
      ],
      userModel,
    });
  const takers: readonly (readonly [string, (name: string) => unknown])[] = [
    ['compaction of an agent', (name) => agent({ name: 'clerk', model, ...compaction(name) })],
    ['compaction of an app', (name) => runtime({ app: 'shop', ...compaction(name) })],
    ['rubric', (name) => rubric({ criteria, model: name })],
    ['judgedGroundedness', (name) => judgedGroundedness({ model: name })],
    ['simulatedUser', (name) => simulatedUser({ ...plan, model: name })],
    ['simulatedUser, a list', (name) => simulatedUser({ ...plan, model: [model, name] })],
    ['textProtocol', (name) => textProtocol(name)],
    ['evaluate', evaluated],
  ];

  test.each(takers)('%s', async (_what, take) => {
    await take('ollama:qwen3');
    const refused = async () => take('opnai:gpt-5');
    await expect(refused()).rejects.toThrow(
      /"opnai" is not a provider\. Did you mean "openai:gpt-5"\? Write one of: openai:gpt-5-mini/,
    );
    const unknown = async () => take('mistral:large');
    await expect(unknown()).rejects.toThrow('Run "npm install @ai-sdk/mistral"');
    const secret = async () => take('openai-compatible:m@http://user:pa55word@host/v1');
    await expect(secret()).rejects.not.toThrow('pa55word');
    const wrong = async () => take(5 as unknown as string);
    await expect(wrong()).rejects.toThrow("its name 'openai:gpt-5-mini'");
  });

  test('and a summary is written by the model that is named', async () => {
    const long = 'word '.repeat(2_000);
    const talker = agent({
      name: 'talker',
      model: scriptedModel(() => ({ text: long }), { contextWindow: 8_000 }),
      compaction: { model: 'rehearsal' },
    });
    const app = runtime({ app: 'talks' });
    for (let i = 0; i < 4; i++) await app.run(talker, { session: 's', input: `Go on ${i}` });
    const { events } = await app.sessions.get('s');
    const asked = events.flatMap((event) => (event.type === 'model_start' ? [event.model] : []));
    expect(asked).toContain('rehearsal:rules');
  });
});
