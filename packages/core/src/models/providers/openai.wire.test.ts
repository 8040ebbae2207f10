import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ask,
  failureOf,
  type Heard,
  hang,
  hearing,
  json,
  reset,
  sse,
  startWireServer,
  type WireServer,
  weatherTool,
} from '../../../test/models/wire-server.ts';
import { answerProblem } from '../answer-problem.ts';
import { type OpenAiSettings, openai } from './openai.ts';
import {
  completed,
  created,
  functionCall,
  message,
  reasoning,
  responseFrames,
  usage,
} from './openai-frames.fixture.ts';

let server: WireServer;
let before: number;
beforeAll(async () => {
  server = await startWireServer();
});
afterAll(() => server.close());
beforeEach(() => {
  before = server.requests.length;
});
const seen = () => server.requests.slice(before);

/** A model whose requests reach the local server; `host` holds the host that was meant. */
const local = (env: Record<string, string>, settings: OpenAiSettings = {}, id = 'gpt-5-mini') =>
  openai(id, { fetch: server.redirected, env, ...settings });
const responses = (...frames: object[]) => sse(...responseFrames(...frames));

const azureEnv = {
  AZURE_OPENAI_ENDPOINT: 'https://res.openai.azure.com/',
  AZURE_OPENAI_API_KEY: 'azure-key',
};
describe('openai over the wire', () => {
  test('speaks the responses API: tools, settings, reasoning, calls and usage', async () => {
    server.answer(
      responses(...reasoning, ...message('It rains'), ...functionCall('{"city":"Rome"}')),
    );
    const model = local(
      { OPENAI_API_KEY: 'std-key' },
      { reasoning: { effort: 'low' }, maxTokens: 500 },
    );
    const heard: Heard = { texts: [], thoughts: [], toolArgs: [] };
    const answer = await ask(model, { tools: [weatherTool] }, heard);
    expect(answer.texts).toMatchObject([{ text: 'It rains' }]);
    expect(answer.thoughts).toMatchObject([
      {
        text: 'think',
        providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'cipher' } },
      },
    ]);
    expect(answer.toolCalls).toMatchObject([
      { providerCallId: 'call_a', name: 'weather', args: { city: 'Rome' } },
    ]);
    expect(answer.usage).toEqual({
      inputTokens: 20,
      outputTokens: 9,
      cachedInputTokens: 5,
      reasoningTokens: 4,
    });
    expect(answer.finishReason).toBe('tool-calls');
    expect(heard).toEqual({
      texts: ['It rains'],
      thoughts: ['think'],
      toolArgs: ['weather {"city":"Rome"}'],
    });
    const [request] = seen();
    expect(request).toMatchObject({
      host: 'api.openai.com',
      path: '/v1/responses',
      headers: { authorization: 'Bearer std-key' },
    });
    expect(request?.body).toMatchObject({
      model: 'gpt-5-mini',
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 500,
      reasoning: { effort: 'low' },
      tools: [{ type: 'function', name: 'weather' }],
    });
  });

  test('an answer goes back to OpenAI with its encrypted reasoning', async () => {
    server.answer(responses(...reasoning, ...message('ok')), responses(...message('again')));
    const model = local({ OPENAI_API_KEY: 'k' });
    const { thoughts, texts } = await ask(model);
    const content = [
      ...thoughts.map(({ text, providerMetadata }) => ({
        type: 'reasoning' as const,
        text,
        providerOptions: providerMetadata as never,
      })),
      ...texts.map(({ text, providerMetadata }) => ({
        type: 'text' as const,
        text,
        providerOptions: providerMetadata as never,
      })),
    ];
    await ask(model, {
      prompt: [
        { role: 'user', content: [{ type: 'text', text: 'a' }] },
        { role: 'assistant', content },
      ],
    });
    expect(JSON.stringify(seen()[1]?.body['input'])).toContain('"encrypted_content":"cipher"');
  });

  test('a key given directly and OPENAI_BASE_URL are used', async () => {
    server.answer(responses(...message('ok')));
    await ask(
      openai('gpt-5', {
        apiKey: 'direct',
        env: { OPENAI_BASE_URL: `${server.url}/proxy/v1`, ...azureEnv },
      }),
    );
    expect(seen()[0]).toMatchObject({
      path: '/proxy/v1/responses',
      headers: { authorization: 'Bearer direct' },
    });
  });

  test.each([
    [
      '429',
      json(
        429,
        { error: { message: 'slow', type: 'x', code: 'rate_limit_exceeded' } },
        { 'retry-after-ms': '250' },
      ),
      { code: 'model_rate_limit', retryAfterMs: 250 },
    ],
    [
      'a spent quota',
      json(429, {
        error: {
          message: 'You exceeded your quota',
          type: 'insufficient_quota',
          code: 'insufficient_quota',
        },
      }),
      { code: 'model_rate_limit', retryable: false },
    ],
    [
      '500',
      json(500, { error: { message: 'oops', type: 'server_error' } }),
      { code: 'model_server', retryable: true },
    ],
    [
      'a long prompt',
      json(400, {
        error: {
          message: 'too long',
          type: 'invalid_request_error',
          code: 'context_length_exceeded',
        },
      }),
      { code: 'model_context_overflow', retryable: false },
    ],
    [
      'an unknown model',
      json(404, {
        error: { message: 'no such model', type: 'invalid_request_error', code: 'model_not_found' },
      }),
      { code: 'model_model_not_found' },
    ],
    [
      'an error frame',
      sse(created, ...message('half'), {
        type: 'error',
        sequence_number: 3,
        code: 'server_error',
        message: 'sorry',
        param: null,
      }),
      { code: 'model_server' },
    ],
    [
      'a failed response',
      sse(created, ...message('half'), {
        type: 'response.failed',
        sequence_number: 4,
        response: { error: { code: 'rate_limit_exceeded', message: 'slow down' }, usage },
      }),
      { code: 'model_rate_limit', retryable: true },
    ],
    [
      'malformed JSON',
      sse(created, ...message('half'), '{"type": '),
      { code: 'model_malformed', retryable: true },
    ],
    [
      'a cut stream',
      sse(created, ...message('half')),
      { code: 'model_connection', retryable: true },
    ],
    ['a reset', reset(created, ...message('half')), { code: 'model_connection', retryable: true }],
  ] as const)('%s', async (_, responder, expected) => {
    server.answer(responder);
    expect(await failureOf(local({ OPENAI_API_KEY: 'k' }))).toMatchObject(expected);
    expect(seen()).toHaveLength(1);
  });

  test('broken arguments of a call are handed on', async () => {
    server.answer(responses(...functionCall('{"city": ')));
    expect(
      (await ask(local({ OPENAI_API_KEY: 'k' }), { tools: [weatherTool] })).toolCalls,
    ).toMatchObject([{ args: '{"city": ', invalid: expect.any(String) }]);
  });

  test('an abort reaches the server', async () => {
    server.answer(hang(created, ...message('half')));
    const controller = new AbortController();
    const heard = hearing(() => controller.abort(new Error('enough')));
    await expect(
      ask(local({ OPENAI_API_KEY: 'k' }), { abortSignal: controller.signal }, heard),
    ).rejects.toThrow('enough');
    await seen()[0]?.aborted;
  });

  test('without any key the variables are named, and nothing is sent', async () => {
    const error = await failureOf(
      local({ AZURE_OPENAI_ENDPOINT: 'https://x.openai.azure.com', OPENAI_API_KEY: '' }),
    );
    expect(error).toMatchObject({ code: 'model_missing_key', retryable: false });
    expect(error.message).toContain('OPENAI_API_KEY');
    await expect(async () => local({}).load()).rejects.toMatchObject({
      code: 'missing_key',
      data: { variables: expect.arrayContaining(['OPENAI_EU_API_KEY']) },
    });
    expect(seen()).toHaveLength(0);
  });
});
test('settings that are recorded hold no key and no endpoint', () => {
  const model = openai('gpt-5', {
    apiKey: 'sk-secret',
    temperature: 1,
    endpoints: [],
    env: { A: 'sk-secret' },
    providerOptions: { openai: { user: 'u' }, x: { y: 1 } },
  });
  expect(model.settings).toEqual({
    temperature: 1,
    providerOptions: { openai: { store: false, user: 'u' }, x: { y: 1 } },
  });
  expect(JSON.stringify(model)).not.toContain('sk-secret');
});

test.each([
  [
    'responses',
    {},
    sse(
      created,
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'message', id: 'msg_1' },
      },
      { type: 'response.refusal.delta', item_id: 'msg_1', output_index: 0, delta: 'I will not.' },
      { type: 'response.refusal.done', item_id: 'msg_1', output_index: 0, refusal: 'I will not.' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'message', id: 'msg_1' },
      },
      completed,
    ),
  ],
  [
    'chat',
    { endpoints: [{ type: 'openai', api: 'chat' }] } satisfies OpenAiSettings,
    sse(
      {
        id: 'c',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { role: 'assistant', refusal: 'I will not.' } }],
      },
      {
        id: 'c',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      },
      '[DONE]',
    ),
  ],
])('a refusal through %s is told from an answer', async (_api, settings, response) => {
  server.answer(response);
  const answer = await ask(local({ OPENAI_API_KEY: 'k' }, settings));
  expect(answer.texts.map(({ text }) => text)).toEqual(['I will not.']);
  expect(answerProblem(answer)).toMatchObject({
    kind: 'refusal',
    usable: true,
    detail: 'I will not.',
  });
});
