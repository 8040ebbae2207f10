import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ask,
  failureOf,
  type Heard,
  hang,
  hearing,
  html,
  json,
  refuse,
  reset,
  sse,
  startWireServer,
  type WireServer,
  weatherTool,
} from '../../../test/models/wire-server.ts';
import { parseModelName } from '../model-name.ts';
import { openaiCompatible } from './openai-compatible.ts';

let server: WireServer;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(() => server.close());

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const usageChunk = {
  ...chunk({}),
  choices: [],
  usage: {
    prompt_tokens: 12,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
};
const toolDelta = (index: number, call: object) => chunk({ tool_calls: [{ index, ...call }] });

describe('openaiCompatible over the wire', () => {
  let model: ReturnType<typeof openaiCompatible>;
  let before: number;
  beforeEach(() => {
    before = server.requests.length;
    model = openaiCompatible({
      baseURL: `${server.url}/v1`,
      model: 'qwen3',
      temperature: 0.25,
      maxTokens: 99,
      headers: { 'x-team': 'blue' },
    });
  });
  const request = () => server.requests[before];

  test(
    'sends tools and settings without a key, and reads text, reasoning, calls ' + 'and usage',
    async () => {
      server.answer(
        sse(
          chunk({ role: 'assistant', reasoning_content: 'think' }),
          chunk({ content: 'It ' }),
          chunk({ content: 'rains' }),
          toolDelta(0, {
            id: 'call_a',
            type: 'function',
            function: { name: 'weather', arguments: '{"ci' },
          }),
          toolDelta(1, {
            id: 'call_b',
            type: 'function',
            function: { name: 'weather', arguments: '' },
          }),
          toolDelta(0, { function: { arguments: 'ty":"Rome"}' } }),
          chunk({}, 'tool_calls'),
          usageChunk,
          '[DONE]',
        ),
      );
      const heard: Heard = { texts: [], thoughts: [], toolArgs: [] };
      const answer = await ask(model, { tools: [weatherTool] }, heard);
      expect(answer.texts).toEqual([{ text: 'It rains' }]);
      expect(answer.thoughts).toEqual([{ text: 'think' }]);
      expect(answer.toolCalls).toMatchObject([
        { providerCallId: 'call_a', name: 'weather', args: { city: 'Rome' } },
        { providerCallId: 'call_b', name: 'weather', args: {} },
      ]);
      expect(answer.usage).toEqual({
        inputTokens: 12,
        outputTokens: 7,
        cachedInputTokens: 4,
        reasoningTokens: 2,
      });
      expect(answer.finishReason).toBe('tool-calls');
      expect(heard).toMatchObject({ texts: ['It ', 'rains'], thoughts: ['think'] });
      expect(heard.toolArgs.join('')).toContain('weather {"ci');
      expect(request()?.path).toBe('/v1/chat/completions');
      expect(request()?.headers).toMatchObject({ 'x-team': 'blue' });
      expect(request()?.headers['authorization']).toBeUndefined();
      expect(request()?.body).toMatchObject({
        model: 'qwen3',
        temperature: 0.25,
        max_tokens: 99,
        stream: true,
        stream_options: { include_usage: true },
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'How is the weather?' },
        ],
        tools: [
          { type: 'function', function: { name: 'weather', parameters: weatherTool.inputSchema } },
        ],
      });
    },
  );

  test('sends a key when there is one', async () => {
    server.answer(sse(chunk({ content: 'ok' }, 'stop'), '[DONE]'));
    const answer = await ask(
      openaiCompatible({ baseURL: `${server.url}/v1`, model: 'm', apiKey: 'abc' }),
    );
    expect(request()?.headers['authorization']).toBe('Bearer abc');
    expect(answer).toMatchObject({ texts: [{ text: 'ok' }], usage: undefined });
  });

  test('a name with a base URL is called there', async () => {
    server.answer(sse(chunk({ content: 'ok' }, 'stop'), '[DONE]'));
    await ask(parseModelName(`openai-compatible:org/model@${server.url}/api/v1`));
    expect(request()).toMatchObject({
      path: '/api/v1/chat/completions',
      body: { model: 'org/model' },
    });
  });

  test('broken tool arguments are handed on as they are', async () => {
    server.answer(
      sse(
        toolDelta(0, { id: 'x', function: { name: 'weather', arguments: '{"city": Rome}' } }),
        chunk({}, 'tool_calls'),
        '[DONE]',
      ),
    );
    const answer = await ask(model, { tools: [weatherTool] });
    expect(answer.toolCalls).toMatchObject([
      { args: '{"city": Rome}', invalid: expect.stringContaining('not valid JSON') },
    ]);
  });

  test.each([
    [
      '429',
      json(429, { error: { message: 'slow down' } }, { 'retry-after': '3' }),
      { code: 'model_rate_limit', retryAfterMs: 3_000, status: 429, retryable: true },
    ],
    ['500', json(500, { error: { message: 'oops' } }), { code: 'model_server', retryable: true }],
    ['401', json(401, { error: { message: 'bad key' } }), { code: 'model_auth', retryable: false }],
    ['an HTML error page', html(502), { code: 'model_server' }],
    [
      'malformed JSON in mid-stream',
      sse(chunk({ content: 'half' }), '{"choices": [', '[DONE]'),
      { code: 'model_malformed', retryable: true },
    ],
    [
      'a frame of another form',
      sse(chunk({ content: 'half' }), { hello: 1 }, '[DONE]'),
      { code: 'model_malformed' },
    ],
    [
      'an error in mid-stream',
      sse(chunk({ content: 'half' }), {
        error: { message: 'The server is overloaded', type: 'overloaded_error' },
      }),
      { code: 'model_overloaded' },
    ],
    ['an end without a finish', sse(chunk({ content: 'half' })), { retryable: true }],
    [
      'a reset in mid-stream',
      reset(chunk({ content: 'half' })),
      { code: 'model_connection', retryable: true },
    ],
    ['a reset at the start', refuse(), { code: 'model_connection', retryable: true }],
  ] as const)('%s', async (_, responder, expected) => {
    server.answer(responder);
    expect(await failureOf(model)).toMatchObject(expected);
    expect(server.requests.length).toBe(before + 1);
  });

  test('a server that does not run is a connection error', async () => {
    const stopped = await startWireServer();
    await stopped.close();
    const error = await failureOf(openaiCompatible({ baseURL: `${stopped.url}/v1`, model: 'm' }));
    expect(error).toMatchObject({ code: 'model_connection', retryable: true });
    expect(error.message).toContain('whether the server runs');
    const forbidden = openaiCompatible({ baseURL: 'http://127.0.0.1:1/v1', model: 'm' });
    expect(await failureOf(forbidden)).toMatchObject({ code: 'model_connection' });
  });

  test('an abort reaches the server', async () => {
    server.answer(hang(chunk({ content: 'half' })));
    const controller = new AbortController();
    const heard = hearing(() => controller.abort(new Error('enough')));
    await expect(ask(model, { abortSignal: controller.signal }, heard)).rejects.toThrow('enough');
    await request()?.aborted;
  });
});
