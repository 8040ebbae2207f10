import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  makeVertexCredentials,
  type VertexCredentials,
} from '../../../test/models/vertex-credentials.ts';
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
import { type GeminiSettings, gemini } from './gemini.ts';

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
const local = (settings: GeminiSettings = {}) =>
  gemini('gemini-3-flash-preview', {
    fetch: server.redirected,
    env: { GEMINI_API_KEY: 'gem-key' },
    ...settings,
  });

const parts = (...content: object[]) => ({
  candidates: [{ content: { role: 'model', parts: content } }],
});
const end = (finishReason = 'STOP') => ({
  candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason }],
  usageMetadata: {
    promptTokenCount: 30,
    candidatesTokenCount: 8,
    thoughtsTokenCount: 5,
    cachedContentTokenCount: 10,
    totalTokenCount: 43,
  },
});
const failed = (status: number, name: string, message: string, details: object[] = []) =>
  json(status, { error: { code: status, message, status: name, details } });

describe('gemini over the wire', () => {
  test(
    'sends tools, settings and thinking, and reads thoughts, text, signed calls ' + 'and usage',
    async () => {
      server.answer(
        sse(
          parts({ text: 'hm', thought: true }),
          parts({ text: 'It ' }),
          parts({ text: 'rains' }),
          parts({
            functionCall: { name: 'weather', args: { city: 'Rome' } },
            thoughtSignature: 'signed',
          }),
          end(),
        ),
      );
      const heard: Heard = { texts: [], thoughts: [], toolArgs: [] };
      const model = local({
        thinkingConfig: { thinkingBudget: 4_096, includeThoughts: true },
        temperature: 0.1,
        maxTokens: 700,
      });
      const answer = await ask(model, { tools: [weatherTool] }, heard);
      expect(answer.thoughts).toMatchObject([{ text: 'hm' }]);
      expect(answer.texts).toMatchObject([{ text: 'It rains' }]);
      expect(answer.toolCalls).toMatchObject([
        {
          name: 'weather',
          args: { city: 'Rome' },
          providerMetadata: { google: { thoughtSignature: 'signed' } },
        },
      ]);
      expect(answer.usage).toEqual({
        inputTokens: 30,
        outputTokens: 13,
        cachedInputTokens: 10,
        reasoningTokens: 5,
      });
      expect(answer.finishReason).toBe('tool-calls');
      expect(heard).toMatchObject({ texts: ['It ', 'rains'], thoughts: ['hm'] });
      const [request] = seen();
      expect(request).toMatchObject({
        host: 'generativelanguage.googleapis.com',
        path: '/v1beta/models/gemini-3-flash-preview:streamGenerateContent',
        query: { alt: 'sse' },
        headers: { 'x-goog-api-key': 'gem-key' },
      });
      expect(request?.body).toMatchObject({
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'How is the weather?' }] }],
        generationConfig: {
          temperature: 0.1,
          maxOutputTokens: 700,
          thinkingConfig: { thinkingBudget: 4_096, includeThoughts: true },
        },
        tools: [{ functionDeclarations: [{ name: 'weather' }] }],
      });
    },
  );

  test('the other name of the key and a thinking level', async () => {
    server.answer(sse(parts({ text: 'ok' }), end()));
    await ask(
      local({
        env: { GOOGLE_GENERATIVE_AI_API_KEY: 'other' },
        thinkingConfig: { thinkingLevel: 'low' },
      }),
    );
    expect(seen()[0]).toMatchObject({
      headers: { 'x-goog-api-key': 'other' },
      body: { generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } },
    });
  });

  test.each([
    [
      '429',
      failed(429, 'RESOURCE_EXHAUSTED', 'quota', [
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' },
      ]),
      { code: 'model_rate_limit', retryAfterMs: 17_000 },
    ],
    [
      '503',
      failed(503, 'UNAVAILABLE', 'The model is overloaded'),
      { code: 'model_overloaded', retryable: true },
    ],
    ['500', failed(500, 'INTERNAL', 'oops'), { code: 'model_server', retryable: true }],
    [
      'a wrong key',
      failed(400, 'INVALID_ARGUMENT', 'API key not valid.', [{ reason: 'API_KEY_INVALID' }]),
      { code: 'model_auth', retryable: false },
    ],
    [
      'a long prompt',
      failed(
        400,
        'INVALID_ARGUMENT',
        'The input token count (9) exceeds the maximum number of tokens allowed (8).',
      ),
      { code: 'model_context_overflow' },
    ],
    [
      'an unknown model',
      failed(404, 'NOT_FOUND', 'models/x is not found'),
      { code: 'model_model_not_found' },
    ],
    [
      'an error in mid-stream',
      sse(parts({ text: 'half' }), {
        error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' },
      }),
      { code: 'model_overloaded', retryable: true },
    ],
    [
      'malformed JSON',
      sse(parts({ text: 'half' }), '{"candidates": ['),
      { code: 'model_malformed', retryable: true },
    ],
    ['a cut stream', sse(parts({ text: 'half' })), { code: 'model_connection', retryable: true }],
    ['a reset', reset(parts({ text: 'half' })), { code: 'model_connection', retryable: true }],
    [
      'a malformed call',
      sse({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }),
      { code: 'model_malformed', retryable: true },
    ],
  ] as const)('%s', async (_, responder, expected) => {
    server.answer(responder);
    expect(await failureOf(local())).toMatchObject(expected);
    expect(seen()).toHaveLength(1);
  });

  test('an abort reaches the server', async () => {
    server.answer(hang(parts({ text: 'half' })));
    const controller = new AbortController();
    const heard = hearing(() => controller.abort(new Error('enough')));
    await expect(ask(local(), { abortSignal: controller.signal }, heard)).rejects.toThrow('enough');
    await seen()[0]?.aborted;
  });

  test('a missing key names its variables', async () => {
    expect((await failureOf(local({ env: {} }))).message).toContain(
      'GEMINI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY',
    );
  });
});

describe('gemini on Vertex AI', () => {
  let credentials: VertexCredentials;
  beforeAll(async () => {
    credentials = await makeVertexCredentials();
  });
  afterAll(() => credentials.close());

  test.each([
    [
      'under vertex',
      () => ({
        vertex: { project: 'p1', location: 'europe-west1', credentials: credentials.path },
        env: {},
      }),
    ],
    [
      'beside the other settings',
      () => ({ project: 'p1', region: 'europe-west1', credentials: credentials.path, env: {} }),
    ],
    [
      'from the environment',
      () => ({
        vertex: {},
        env: {
          GOOGLE_VERTEX_PROJECT: 'p1',
          GOOGLE_CLOUD_LOCATION: 'europe-west1',
          GOOGLE_APPLICATION_CREDENTIALS: credentials.path,
        },
      }),
    ],
  ])('project, location and credentials %s', async (_, settings) => {
    server.answer(sse(parts({ text: 'ok' }), end()));
    const answer = await ask(
      gemini('gemini-3-flash-preview', {
        fetch: server.redirected,
        thinkingConfig: { thinkingBudget: 64 },
        ...settings(),
      }),
    );
    expect(answer.texts).toMatchObject([{ text: 'ok' }]);
    expect(seen()[0]).toMatchObject({
      host: 'europe-west1-aiplatform.googleapis.com',
      path:
        '/v1beta1/projects/p1/locations/europe-west1/publishers/google/models/' +
        'gemini-3-flash-preview:streamGenerateContent',
      headers: { authorization: `Bearer ${credentials.accessToken}` },
      body: { generationConfig: { thinkingConfig: { thinkingBudget: 64 } } },
    });
  });

  test('a missing project is named', async () => {
    expect(
      (await failureOf(gemini('g', { vertex: { location: 'x' }, env: {} }))).message,
    ).toContain('`project`');
  });
});
