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
import { answerProblem } from '../answer-problem.ts';
import { type ClaudeSettings, claude } from './claude.ts';

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
const local = (settings: ClaudeSettings = {}) =>
  claude('claude-sonnet-4-5', {
    fetch: server.redirected,
    env: { ANTHROPIC_API_KEY: 'ant-key' },
    ...settings,
  });

const start = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    usage: { input_tokens: 10, cache_read_input_tokens: 6, cache_creation_input_tokens: 4 },
  },
};
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const text = (index: number, ...texts: string[]) =>
  block(
    index,
    { type: 'text', text: '' },
    ...texts.map((part) => ({ type: 'text_delta', text: part })),
  );
const toolUse = (index: number, ...parts: string[]) =>
  block(
    index,
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
    ...parts.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  );
const end = (stop_reason: string) => [
  {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 15 },
  },
  { type: 'message_stop' },
];

test.each([
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context_overflow'],
  ['max_tokens', 'output_limit'],
])('the stop reason %s is the problem %s', async (reason, kind) => {
  server.answer(sse(start, ...end(reason)));
  expect(answerProblem(await ask(local()))).toMatchObject({ kind, usable: false });
});

describe('claude over the wire', () => {
  test(
    'sends tools, settings and thinking, and reads thoughts with their signature, text, ' +
      'calls and usage',
    async () => {
      server.answer(
        sse(
          start,
          { type: 'ping' },
          ...block(
            0,
            { type: 'thinking', thinking: '' },
            { type: 'thinking_delta', thinking: 'hm' },
            { type: 'signature_delta', signature: 'signed' },
          ),
          ...block(1, { type: 'redacted_thinking', data: 'hidden' }),
          ...text(2, 'It ', 'rains'),
          ...toolUse(3, '{"city"', ':"Rome"}'),
          ...end('tool_use'),
        ),
      );
      const heard: Heard = { texts: [], thoughts: [], toolArgs: [] };
      const answer = await ask(
        local({ thinking: { budgetTokens: 2_000 }, maxTokens: 800 }),
        { tools: [weatherTool] },
        heard,
      );
      expect(answer.thoughts).toMatchObject([
        { text: 'hm', providerMetadata: { anthropic: { signature: 'signed' } } },
        { text: '', providerMetadata: { anthropic: { redactedData: 'hidden' } } },
      ]);
      expect(answer.texts).toMatchObject([{ text: 'It rains' }]);
      expect(answer.toolCalls).toMatchObject([
        { providerCallId: 'toolu_1', name: 'weather', args: { city: 'Rome' } },
      ]);
      expect(answer.usage).toMatchObject({
        inputTokens: 20,
        outputTokens: 15,
        cachedInputTokens: 6,
        cacheWriteTokens: 4,
      });
      expect(answer.finishReason).toBe('tool-calls');
      expect(heard).toMatchObject({ texts: ['It ', 'rains'], thoughts: ['hm'] });
      expect(heard.toolArgs.map((line) => line.replace('weather ', '')).join('')).toBe(
        '{"city":"Rome"}',
      );
      const [request] = seen();
      expect(request).toMatchObject({
        host: 'api.anthropic.com',
        path: '/v1/messages',
        headers: { 'x-api-key': 'ant-key', 'anthropic-version': '2023-06-01' },
      });
      expect(request?.body).toMatchObject({
        model: 'claude-sonnet-4-5',
        stream: true,
        max_tokens: 2_800,
        thinking: { type: 'enabled', budget_tokens: 2_000 },
        system: [{ type: 'text', text: 'Be brief.' }],
        tools: [{ name: 'weather', input_schema: weatherTool.inputSchema }],
      });
    },
  );

  test.each([
    [
      '429',
      json(
        429,
        { type: 'error', error: { type: 'rate_limit_error', message: 'slow' } },
        { 'retry-after': '12' },
      ),
      { code: 'model_rate_limit', retryAfterMs: 12_000 },
    ],
    [
      '529',
      json(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
      { code: 'model_overloaded', retryable: true },
    ],
    [
      '500',
      json(500, { type: 'error', error: { type: 'api_error', message: 'oops' } }),
      { code: 'model_server', retryable: true },
    ],
    [
      '401',
      json(401, {
        type: 'error',
        error: { type: 'authentication_error', message: 'invalid x-api-key' },
      }),
      { code: 'model_auth', retryable: false },
    ],
    [
      'a long prompt',
      json(400, {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 2 > 1' },
      }),
      { code: 'model_context_overflow' },
    ],
    [
      'an error in mid-stream',
      sse(start, ...text(0, 'half'), {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Overloaded' },
      }),
      { code: 'model_overloaded', retryable: true },
    ],
    [
      'malformed JSON',
      sse(start, ...text(0, 'half'), '{"type": "content'),
      { code: 'model_malformed', retryable: true },
    ],
    ['a cut stream', sse(start, ...text(0, 'half')), { code: 'model_connection', retryable: true }],
    ['a reset', reset(start, ...text(0, 'half')), { code: 'model_connection', retryable: true }],
  ] as const)('%s', async (_, responder, expected) => {
    server.answer(responder);
    expect(await failureOf(local())).toMatchObject(expected);
    expect(seen()).toHaveLength(1);
  });

  test('broken arguments of a call are handed on', async () => {
    server.answer(sse(start, ...toolUse(0, '{"city": '), ...end('tool_use')));
    expect((await ask(local(), { tools: [weatherTool] })).toolCalls).toMatchObject([
      { args: '{"city": ', invalid: expect.any(String) },
    ]);
  });

  test('an abort reaches the server', async () => {
    server.answer(
      hang(
        start,
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } },
      ),
    );
    const controller = new AbortController();
    const heard = hearing(() => controller.abort(new Error('enough')));
    await expect(ask(local(), { abortSignal: controller.signal }, heard)).rejects.toThrow('enough');
    await seen()[0]?.aborted;
  });

  test('a missing key names its variable', async () => {
    expect((await failureOf(local({ env: {} }))).message).toContain('ANTHROPIC_API_KEY');
  });
});

describe('claude on Vertex AI', () => {
  let credentials: VertexCredentials;
  beforeAll(async () => {
    credentials = await makeVertexCredentials();
  });
  afterAll(() => credentials.close());

  test.each([
    [
      'under vertex',
      (place: object) =>
        claude('claude-sonnet-4-5', {
          vertex: { project: 'p1', location: 'europe-west1', credentials: credentials.path },
          ...place,
        }),
    ],
    [
      'beside the other settings',
      (place: object) =>
        claude('claude-sonnet-4-5', {
          project: 'p1',
          region: 'europe-west1',
          credentials: credentials.path,
          ...place,
        }),
    ],
    [
      'apart from the behaviour',
      (place: object) =>
        claude(
          'claude-sonnet-4-5',
          {
            project: 'p1',
            region: 'europe-west1',
            ...place,
            env: { GOOGLE_APPLICATION_CREDENTIALS: credentials.path },
          },
          { thinking: { budgetTokens: 1_024 } },
        ),
    ],
  ])('project, location and credentials %s', async (_, make) => {
    server.answer(sse(start, ...text(0, 'ok'), ...end('end_turn')));
    const model = make({ fetch: server.redirected, env: {} });
    expect((await ask(model)).texts).toMatchObject([{ text: 'ok' }]);
    expect(seen()[0]).toMatchObject({
      host: 'europe-west1-aiplatform.googleapis.com',
      path:
        '/v1/projects/p1/locations/europe-west1/publishers/anthropic/models/' +
        'claude-sonnet-4-5:streamRawPredict',
      headers: { authorization: `Bearer ${credentials.accessToken}` },
    });
    expect(JSON.stringify(model.settings)).not.toContain(credentials.path);
  });

  test('the third argument counts', () => {
    const model = claude(
      'claude-sonnet-4-5',
      { project: 'p', region: 'r' },
      { thinking: { budgetTokens: 1_024 }, temperature: 0 },
    );
    expect(model.settings).toEqual({
      temperature: 0,
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } },
    });
  });

  test('a missing location is named', async () => {
    expect((await failureOf(claude('c', { project: 'p', env: {} }))).message).toContain(
      '`location`',
    );
  });
});
