import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { agent, type JsonValue, runtime, tool } from 'adjutant';
import { replay } from 'adjutant/replay';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../base/clock.ts';
import { scriptedModel } from '../testing/kit/scripted-model.ts';
import { callModel } from './call.ts';
import { ModelStreamError } from './errors.ts';

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }];
const usage = {
  inputTokens: { total: 100, noCache: 60, cacheRead: 30, cacheWrite: 10 },
  outputTokens: { total: 20, text: 12, reasoning: 8 },
};
const finish: LanguageModelV4StreamPart = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage,
};

function modelOf(parts: readonly LanguageModelV4StreamPart[]): LanguageModelV4 {
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
  return modelOfStream(stream);
}

function modelOfStream(stream: ReadableStream<LanguageModelV4StreamPart>): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'parts',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream: () => Promise.resolve({ stream }),
  };
}

const call = (parts: readonly LanguageModelV4StreamPart[]) =>
  callModel(modelOf(parts), { prompt }, systemClock, undefined);

/** Answers of a model that called a tool with these arguments, and then says what it is shown. */
function echoing(args: JsonValue) {
  return scriptedModel((shown, round) => {
    if (round === 0) return { toolCalls: [{ name: 'add', args }] };
    const parts = shown.flatMap(({ role, content }) => (role === 'assistant' ? content : []));
    const inputs = parts.flatMap((part) => (part.type === 'tool-call' ? [part.input] : []));
    return { text: JSON.stringify(inputs) };
  });
}

describe('callModel', () => {
  // Gemini and many local servers refuse every later prompt of the session otherwise.
  test.for<[JsonValue, string]>([
    [12, '[{"rawInvalidInput":12}]'],
    [null, '[{"rawInvalidInput":null}]'],
    [[{ item: 'pen' }], '[{"rawInvalidInput":[{"item":"pen"}]}]'],
    [{ item: 'pen' }, '[{"item":"pen"}]'],
  ])('sends arguments %j of an earlier call as an object', async ([args, sent]) => {
    const add = tool({ name: 'add', description: 'Adds', schema: z.object({}), execute: () => 7 });
    const adder = agent({ name: 'adder', model: echoing(args), tools: [add] });
    const app = runtime({ app: 'calls', runnables: [adder] });
    const { output, session } = await app.run(adder, 'Add.');
    expect(output).toBe(sent);
    // The record has what the model wrote.
    expect(session.events.find(({ type }) => type === 'tool_call')).toMatchObject({ args });
    expect((await replay(session, app)).divergence).toBeUndefined();
    await app.close();
  });

  test(
    'keeps texts, thoughts and tool calls apart, with what the provider ' + 'wants back',
    async () => {
      const answer = await call([
        { type: 'stream-start', warnings: [] },
        { type: 'response-metadata', id: 'r1' },
        {
          type: 'reasoning-start',
          id: 'r',
          providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: null } },
        },
        { type: 'reasoning-delta', id: 'r', delta: 'hm' },
        {
          type: 'reasoning-end',
          id: 'r',
          providerMetadata: { openai: { reasoningEncryptedContent: 'secret' } },
        },
        { type: 'text-start', id: 'a' },
        { type: 'text-delta', id: 'a', delta: 'one ' },
        { type: 'text-start', id: 'b' },
        { type: 'text-delta', id: 'b', delta: 'two' },
        { type: 'text-delta', id: 'a', delta: 'more' },
        { type: 'text-end', id: 'a', providerMetadata: { google: { thoughtSignature: 'sig' } } },
        { type: 'text-end', id: 'b' },
        {
          type: 'tool-call',
          toolCallId: 'c1',
          toolName: 'add',
          input: '{"a":1}',
          providerMetadata: { google: { thoughtSignature: 't' } },
        },
        {
          type: 'tool-call',
          toolCallId: 'web',
          toolName: 'search',
          input: '{}',
          providerExecuted: true,
        },
        { type: 'ping' },
        finish,
      ]);
      expect(answer.thoughts).toEqual([
        {
          text: 'hm',
          providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'secret' } },
        },
      ]);
      expect(answer.texts).toEqual([
        { text: 'one more', providerMetadata: { google: { thoughtSignature: 'sig' } } },
        { text: 'two' },
      ]);
      expect(answer.toolCalls).toEqual([
        {
          providerCallId: 'c1',
          name: 'add',
          args: { a: 1 },
          providerMetadata: { google: { thoughtSignature: 't' } },
        },
      ]);
      expect(answer.usage).toEqual({
        inputTokens: 100,
        outputTokens: 20,
        cachedInputTokens: 30,
        cacheWriteTokens: 10,
        reasoningTokens: 8,
      });
      expect(answer.finishReason).toBe('stop');
    },
  );

  test('an empty thought counts when it is signed, an empty text does not', async () => {
    const answer = await call([
      {
        type: 'reasoning-start',
        id: '1',
        providerMetadata: { anthropic: { redactedData: 'xyz' } },
      },
      { type: 'reasoning-end', id: '1' },
      { type: 'reasoning-start', id: '2' },
      { type: 'reasoning-end', id: '2' },
      { type: 'text-start', id: '3', providerMetadata: { openai: { itemId: 'msg' } } },
      { type: 'text-end', id: '3' },
      finish,
    ]);
    expect(answer.thoughts).toEqual([
      { text: '', providerMetadata: { anthropic: { redactedData: 'xyz' } } },
    ]);
    expect(answer.texts).toEqual([]);
  });

  test('blocks may use one id again', async () => {
    const block = (delta: string): LanguageModelV4StreamPart[] => [
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta },
      { type: 'text-end', id: '0' },
    ];
    expect((await call([...block('a'), ...block('b'), finish])).texts).toEqual([
      { text: 'a' },
      { text: 'b' },
    ]);
  });

  test(
    'deltas arrive in order and with the name of their tool, whatever is ' + 'interleaved',
    async () => {
      const seen: string[] = [];
      const sink = {
        text: (delta: string) => void seen.push(`text ${delta}`),
        thought: (delta: string) => void seen.push(`thought ${delta}`),
        toolArgs: (id: string, name: string, delta: string) =>
          void seen.push(`${id} ${name} ${delta}`),
      };
      const parts: LanguageModelV4StreamPart[] = [
        { type: 'reasoning-delta', id: 'r', delta: 'x' },
        { type: 'tool-input-start', id: 'c1', toolName: 'one' },
        { type: 'tool-input-start', id: 'c2', toolName: 'two' },
        { type: 'tool-input-delta', id: 'c1', delta: '{' },
        { type: 'tool-input-delta', id: 'c2', delta: '[' },
        { type: 'text-delta', id: 't', delta: 'y' },
        { type: 'text-delta', id: 't', delta: '' },
        finish,
      ];
      const answer = await callModel(
        modelOf(parts),
        { prompt },
        { ...systemClock, monotonic: () => 42 },
        sink,
      );
      expect(seen).toEqual(['thought x', 'c1 one {', 'c2 two [', 'text y']);
      expect(answer.firstPartAt).toBe(42);
    },
  );

  test('any split of a text gives the text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string()), async (chunks) => {
        const answer = await callModel(
          scriptedModel([{ chunks }]),
          { prompt },
          systemClock,
          undefined,
        );
        expect(answer.texts.map(({ text }) => text).join('')).toBe(chunks.join(''));
      }),
    );
  });

  test(
    'broken tool arguments are kept and explained; missing ones are an ' + 'empty object',
    async () => {
      const answer = await callModel(
        scriptedModel([
          {
            toolCalls: [
              { name: 'a', args: '{"x": ' },
              { name: 'b', args: '  ' },
              { name: 'c', args: '[1]' },
            ],
          },
        ]),
        { prompt },
        systemClock,
        undefined,
      );
      expect(answer.toolCalls).toEqual([
        {
          providerCallId: 'call_1',
          name: 'a',
          args: '{"x": ',
          invalid: expect.stringContaining('not valid JSON'),
        },
        { providerCallId: 'call_2', name: 'b', args: {} },
        { providerCallId: 'call_3', name: 'c', args: [1] },
      ]);
      expect(answer.finishReason).toBe('tool-calls');
    },
  );

  test('an error in mid-stream is thrown, and the stream is cancelled', async () => {
    let cancelled: unknown;
    const failure = new Error('overloaded');
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      start(controller) {
        controller.enqueue({ type: 'text-delta', id: '1', delta: 'half' });
        controller.enqueue({ type: 'error', error: failure });
      },
      cancel(reason) {
        cancelled = reason;
      },
    });
    await expect(callModel(modelOfStream(stream), { prompt }, systemClock, undefined)).rejects.toBe(
      failure,
    );
    expect(cancelled).toBe(failure);
  });

  test(
    'an error that is no Error is wrapped, with its message and itself as ' + 'the cause',
    async () => {
      const frame = { type: 'overloaded_error', message: 'Overloaded' };
      const failure = await call([{ type: 'error', error: frame }]).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(ModelStreamError);
      expect(failure).toMatchObject({
        code: 'model_stream_error',
        cause: frame,
        message: expect.stringContaining('Overloaded'),
      });
    },
  );

  test.each([
    ['without a finish', [{ type: 'text-delta', id: '1', delta: 'x' }]],
    [
      'with an interrupted finish',
      [{ ...finish, finishReason: { unified: 'interrupted', raw: undefined } }],
    ],
  ] as [string, LanguageModelV4StreamPart[]][])(
    'a stream that ends %s is cut',
    async (_, parts) => {
      await expect(call(parts)).rejects.toMatchObject({ code: 'model_stream_cut' });
    },
  );

  test('a finish with an error and without an answer is an error', async () => {
    await expect(
      call([
        {
          ...finish,
          finishReason: { unified: 'error', raw: 'MALFORMED' },
        } as LanguageModelV4StreamPart,
      ]),
    ).rejects.toMatchObject({
      code: 'model_stream_error',
    });
  });

  test('a model that reports no usage has none, and an empty answer is an answer', async () => {
    const answer = await callModel(
      scriptedModel([{ usage: null }]),
      { prompt },
      systemClock,
      undefined,
    );
    expect(answer).toEqual({
      thoughts: [],
      texts: [],
      toolCalls: [],
      usage: undefined,
      finishReason: 'stop',
      firstPartAt: undefined,
    });
  });

  test(
    'an abort in mid-stream rejects with its reason and cancels the stream, even of a model ' +
      'that does not listen',
    async () => {
      const controller = new AbortController();
      let cancelled: unknown;
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start: (out) => out.enqueue({ type: 'text-delta', id: '1', delta: 'x' }),
        cancel(reason) {
          cancelled = reason;
        },
      });
      const reason = new Error('stop');
      const sink = {
        text: () => controller.abort(reason),
        thought: () => undefined,
        toolArgs: () => undefined,
      };
      await expect(
        callModel(
          modelOfStream(stream),
          { prompt, abortSignal: controller.signal },
          systemClock,
          sink,
        ),
      ).rejects.toBe(reason);
      expect(cancelled).toBe(reason);
    },
  );

  test(
    'an abort before the stream opens rejects at once, and a late stream is ' + 'cancelled',
    async () => {
      const controller = new AbortController();
      const opened = Promise.withResolvers<{ stream: ReadableStream<LanguageModelV4StreamPart> }>();
      const model = { ...modelOf([]), doStream: () => opened.promise };
      const answer = callModel(
        model,
        { prompt, abortSignal: controller.signal },
        systemClock,
        undefined,
      );
      const reason = new Error('stop');
      controller.abort(reason);
      await expect(answer).rejects.toBe(reason);
      const cancelled = Promise.withResolvers<unknown>();
      opened.resolve({ stream: new ReadableStream({ cancel: cancelled.resolve }) });
      expect(await cancelled.promise).toBe(reason);
      await expect(
        callModel(model, { prompt, abortSignal: controller.signal }, systemClock, undefined),
      ).rejects.toBe(reason);
    },
  );
});
