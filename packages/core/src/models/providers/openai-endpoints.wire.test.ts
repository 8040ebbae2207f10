import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ask,
  failureOf,
  json,
  refuse,
  reset,
  sse,
  startWireServer,
  type WireServer,
  weatherTool,
} from '../../../test/models/wire-server.ts';
import { type OpenAiSettings, openai } from './openai.ts';
import { chatFrames, message, reasoning, responseFrames } from './openai-frames.fixture.ts';

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
const chat = (text: string) => sse(...chatFrames(text));

const azureEnv = {
  AZURE_OPENAI_ENDPOINT: 'https://res.openai.azure.com/',
  AZURE_OPENAI_API_KEY: 'azure-key',
};
const allEnv = { ...azureEnv, OPENAI_EU_API_KEY: 'eu-key', OPENAI_API_KEY: 'std-key' };
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
describe('several keys', () => {
  const keysSent = () =>
    seen().map(({ headers }) => headers['authorization'] ?? headers['api-key']);

  test('each is used by a variant of its own, at the endpoints that have one', async () => {
    const model = local({ ...azureEnv, OPENAI_API_KEY: 'one,two' });
    const second = model.variants?.make({ key: 2 });
    expect(second).toBe(model.variants?.make({ key: 2 }));
    server.answer(
      json(429, { error: { message: 'slow down' } }),
      responses(...message('a')),
      responses(...message('b')),
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
