import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ask,
  failureOf,
  type Heard,
  hang,
  json,
  refuse,
  reset,
  sse,
  startWireServer,
  type WireServer,
  weatherTool,
} from '../../../test/models/wire-server.ts';
import { answerProblem } from '../answer-problem.ts';
import { type OpenAiSettings, openai } from './openai.ts';

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

/** A model whose requests all come to the local server, with the host that was meant in `host`. */
const local = (env: Record<string, string>, settings: OpenAiSettings = {}, id = 'gpt-5-mini') =>
  openai(id, { fetch: server.redirected, env, ...settings });

const created = {
  type: 'response.created',
  response: { id: 'resp_1', created_at: 1, model: 'gpt-5-mini' },
};
const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
};
const completed = { type: 'response.completed', response: { id: 'resp_1', usage } };
const message = (text: string, id = 'msg_1') => [
  { type: 'response.output_item.added', output_index: 1, item: { type: 'message', id } },
  { type: 'response.output_text.delta', item_id: id, output_index: 1, delta: text },
  { type: 'response.output_item.done', output_index: 1, item: { type: 'message', id } },
];
const reasoning = [
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'reasoning', id: 'rs_1', encrypted_content: null },
  },
  { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
  {
    type: 'response.reasoning_summary_text.delta',
    item_id: 'rs_1',
    summary_index: 0,
    delta: 'think',
  },
  { type: 'response.reasoning_summary_part.done', item_id: 'rs_1', summary_index: 0 },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { type: 'reasoning', id: 'rs_1', encrypted_content: 'cipher' },
  },
];
const functionCall = (args: string) => [
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { type: 'function_call', id: 'fc_1', call_id: 'call_a', name: 'weather', arguments: '' },
  },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 2, delta: args },
  {
    type: 'response.output_item.done',
    output_index: 2,
    item: {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_a',
      name: 'weather',
      arguments: args,
      status: 'completed',
    },
  },
];
const responses = (...frames: object[]) => sse(created, ...frames, completed);
const chat = (text: string) =>
  sse(
    {
      id: 'c',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { role: 'assistant', content: text } }],
    },
    { id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    {
      id: 'c',
      created: 1,
      model: 'm',
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    },
    '[DONE]',
  );

const azureEnv = {
  AZURE_OPENAI_ENDPOINT: 'https://res.openai.azure.com/',
  AZURE_OPENAI_API_KEY: 'azure-key',
};
const allEnv = { ...azureEnv, OPENAI_EU_API_KEY: 'eu-key', OPENAI_API_KEY: 'std-key' };

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
    const heard = {
      texts: { push: () => controller.abort(new Error('enough')) },
      thoughts: [],
      toolArgs: [],
    } as unknown as Heard;
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

describe('the endpoints of openai', () => {
  test('Azure comes first, with deployment, version and its own header', async () => {
    server.answer(chat('from azure'));
    const model = local(
      { ...allEnv },
      { deployments: { 'gpt-5-mini': 'our mini' }, reasoning: { effort: 'low' } },
    );
    expect(await ask(model, { tools: [weatherTool] })).toMatchObject({
      texts: [{ text: 'from azure' }],
      usage: { inputTokens: 3, outputTokens: 2 },
    });
    const [request] = seen();
    expect(request).toMatchObject({
      host: 'res.openai.azure.com',
      path: '/openai/deployments/our%20mini/chat/completions',
      query: { 'api-version': '2025-01-01-preview' },
      headers: { 'api-key': 'azure-key' },
      body: {
        model: 'gpt-5-mini',
        reasoning_effort: 'low',
        tools: [{ function: { name: 'weather' } }],
      },
    });
    expect(request?.headers['authorization']).toBeUndefined();
  });

  test('the version comes from the environment, and the v1 API needs none', async () => {
    server.answer(chat('a'), chat('b'));
    await ask(local({ ...azureEnv, AZURE_OPENAI_API_VERSION: '2026-01-01' }));
    expect(seen()[0]?.query).toEqual({ 'api-version': '2026-01-01' });
    await ask(
      local(
        { ...azureEnv, AZURE_OPENAI_ENDPOINT: 'https://res.openai.azure.com/openai/v1/' },
        { deployments: { 'gpt-5-mini': 'mini' } },
      ),
    );
    expect(seen()[1]).toMatchObject({
      path: '/openai/v1/chat/completions',
      query: {},
      body: { model: 'mini' },
    });
  });

  test('falls over from Azure to the EU to the standard endpoint', async () => {
    server.answer(
      json(404, { error: { code: 'DeploymentNotFound', message: 'no deployment' } }),
      json(503, { error: { message: 'busy' } }),
      responses(...message('from standard')),
    );
    expect((await ask(local(allEnv))).texts).toMatchObject([{ text: 'from standard' }]);
    expect(
      seen().map(({ host, path, headers }) => [
        host,
        path,
        headers['authorization'] ?? headers['api-key'],
      ]),
    ).toEqual([
      ['res.openai.azure.com', '/openai/deployments/gpt-5-mini/chat/completions', 'azure-key'],
      ['eu.api.openai.com', '/v1/responses', 'Bearer eu-key'],
      ['api.openai.com', '/v1/responses', 'Bearer std-key'],
    ]);
  });

  test.each([
    ['429', json(429, { error: { message: 'slow' } })],
    ['500', json(500, { error: { message: 'oops' } })],
    ['a reset at the start', refuse()],
    [
      'a stream that ends before its content',
      sse({
        id: 'c',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { role: 'assistant' } }],
      }),
    ],
    [
      'an error before the content',
      sse({ error: { message: 'overloaded', type: 'overloaded_error' } }),
    ],
  ] as const)('%s at Azure leads to the next endpoint', async (_, responder) => {
    server.answer(responder, responses(...message('from eu')));
    expect((await ask(local({ ...azureEnv, OPENAI_EU_API_KEY: 'e' }))).texts).toMatchObject([
      { text: 'from eu' },
    ]);
  });

  test.each([
    ['a refused key', json(401, { error: { message: 'no' } }), 'model_auth'],
    ['an invalid request', json(400, { error: { message: 'no' } }), 'model_invalid_request'],
    [
      'a content filter',
      json(400, { error: { message: 'no', code: 'content_filter' } }),
      'model_content_filter',
    ],
    [
      'a reset after the first content',
      reset({
        id: 'c',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { content: 'half' } }],
      }),
      'model_connection',
    ],
  ] as const)('%s at Azure does not', async (_, responder, code) => {
    server.answer(responder);
    expect(await failureOf(local(allEnv))).toMatchObject({ code });
    expect(seen()).toHaveLength(1);
  });

  test(
    'a missing model at OpenAI itself is not looked for elsewhere, and the last failure is ' +
      'the one reported',
    async () => {
      server.answer(json(404, { error: { message: 'no model' } }));
      expect(await failureOf(local({ OPENAI_EU_API_KEY: 'e', OPENAI_API_KEY: 'k' }))).toMatchObject(
        {
          code: 'model_model_not_found',
        },
      );
      server.answer(
        json(500, { error: { message: 'a' } }),
        json(429, { error: { message: 'b' } }, { 'retry-after': '2' }),
      );
      expect(await failureOf(local({ OPENAI_EU_API_KEY: 'e', OPENAI_API_KEY: 'k' }))).toMatchObject(
        {
          code: 'model_rate_limit',
          retryAfterMs: 2_000,
        },
      );
    },
  );

  test('endpoints can be listed, and those without a key are left out', async () => {
    server.answer(responses(...message('ok')));
    const endpoints = [
      { type: 'azure', baseUrl: undefined },
      { type: 'openai', baseUrl: 'https://eu.api.openai.com/v1' },
      { type: 'openai' },
    ] as const;
    await ask(local({ OPENAI_API_KEY: 'std' }, { endpoints }));
    expect(seen()[0]).toMatchObject({
      host: 'eu.api.openai.com',
      headers: { authorization: 'Bearer std' },
    });
    server.answer(chat('chat'));
    await ask(
      local(
        {},
        {
          endpoints: [
            { type: 'openai', baseUrl: 'https://gateway.example/v2', apiKey: 'g', api: 'chat' },
          ],
        },
      ),
    );
    expect(seen()[1]).toMatchObject({
      host: 'gateway.example',
      path: '/v2/chat/completions',
      headers: { authorization: 'Bearer g' },
    });
  });

  test('what one endpoint encrypted is not sent to another', async () => {
    const model = local({ OPENAI_EU_API_KEY: 'e', OPENAI_API_KEY: 'k' });
    server.answer(responses(...reasoning, ...message('from eu', 'msg_eu')));
    const { thoughts, texts } = await ask(model);
    const prompt = [
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'a' }] },
      {
        role: 'assistant' as const,
        content: [
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
        ],
      },
    ];
    server.answer(json(500, { error: { message: 'down' } }), responses(...message('ok')));
    await ask(model, { prompt });
    const [, toEu, toStandard] = seen().map(({ body }) => JSON.stringify(body['input']));
    expect(toEu).toContain('cipher');
    expect(toEu).not.toContain('adjutant');
    expect(toStandard).toContain('from eu');
    expect(toStandard).not.toMatch(/cipher|msg_eu|adjutant/);
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

describe('several keys', () => {
  const keysSent = () =>
    seen().map(({ headers }) => headers['authorization'] ?? headers['api-key']);

  test('each is used by a variant of its own, at the endpoints that have one', async () => {
    const model = local({ ...azureEnv, OPENAI_API_KEY: 'one,two' });
    const second = model.variants?.make({ key: 2 });
    expect(second).toBe(model.variants?.make({ key: 2 }));
    server.answer(
      json(429, { error: { message: 'slow down' } }),
      sse(...responsesFrames('a')),
      sse(...responsesFrames('b')),
    );
    await ask(model);
    if (second !== undefined) await ask(second);
    // Azure has one key: the variant with the second key leaves it out.
    expect(keysSent()).toEqual([azureEnv.AZURE_OPENAI_API_KEY, 'Bearer one', 'Bearer two']);
  });

  test('a number without a key says which variables to set', async () => {
    const none = local({ OPENAI_API_KEY: 'one' }).variants?.make({ key: 2 });
    await expect(async () => none?.load()).rejects.toMatchObject({ code: 'missing_key' });
  });
});

const responsesFrames = (text: string) => [created, ...message(text), completed];
