import { agent, run } from 'adjutant';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { testClock } from '../../base/clocks/test-clock.ts';
import { callModel } from '../../models/call.ts';
import { toModel } from '../../models/model.ts';
import { promptTooLong } from './prompt-too-long.ts';
import {
  type ScriptedModelOptions,
  type ScriptedResponse,
  scriptedModel,
} from './scripted-model.ts';

const prompt = (text: string) => [
  { role: 'user' as const, content: [{ type: 'text' as const, text }] },
];
const call = (model: ReturnType<typeof scriptedModel>, text = 'hi') =>
  callModel(model, { prompt: prompt(text) }, systemClock, undefined);
const generate = (model: ReturnType<typeof scriptedModel>, text = 'hi') =>
  Promise.resolve(model.doGenerate({ prompt: prompt(text) }));

/** Turns the event loop until all work that needs no time is done. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

test('gives its responses in order and keeps what it was asked', async () => {
  const model = scriptedModel([
    { thoughts: 'hm', text: 'a' },
    { chunks: ['b', 'c'], usage: { inputTokens: 1, outputTokens: 2, cachedInputTokens: 1 } },
  ]);
  const messages = prompt('first');
  const first = await callModel(
    model,
    { prompt: messages, temperature: 0.5 },
    systemClock,
    undefined,
  );
  messages.push(...prompt('later'));
  const second = await call(model, 'second');
  expect(first).toMatchObject({
    thoughts: [{ text: 'hm' }],
    texts: [{ text: 'a' }],
    usage: { inputTokens: 10, outputTokens: 5 },
    finishReason: 'stop',
  });
  expect(second).toMatchObject({
    texts: [{ text: 'bc' }],
    usage: { inputTokens: 1, outputTokens: 2, cachedInputTokens: 1 },
  });
  expect(model.calls).toEqual([
    { prompt: prompt('first'), temperature: 0.5 },
    { prompt: prompt('second') },
  ]);
});

test('numbers its tool calls over its life, in whichever way it is asked', async () => {
  const model = scriptedModel((_prompt, n) => ({
    toolCalls: [{ name: `t${n}` }, { name: 'u', args: { n } }],
  }));
  expect((await call(model)).toolCalls.map(({ providerCallId }) => providerCallId)).toEqual([
    'call_1',
    'call_2',
  ]);
  expect((await call(model)).toolCalls).toEqual([
    { providerCallId: 'call_3', name: 't1', args: {} },
    { providerCallId: 'call_4', name: 'u', args: { n: 1 } },
  ]);
  expect((await generate(model)).content).toMatchObject([
    { toolCallId: 'call_5' },
    { toolCallId: 'call_6' },
  ]);
});

test('answers in one piece what it would stream', async () => {
  const response: ScriptedResponse = {
    thoughts: 'hm',
    chunks: ['a', 'b'],
    toolCalls: [
      { name: 't', args: { n: 1 } },
      { name: 'u', args: '{broken' },
    ],
  };
  const model = scriptedModel([response, { text: 'x', finishReason: 'length', usage: null }]);
  expect(await generate(model)).toEqual({
    content: [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'ab' },
      { type: 'tool-call', toolCallId: 'call_1', toolName: 't', input: '{"n":1}' },
      { type: 'tool-call', toolCallId: 'call_2', toolName: 'u', input: '{broken' },
    ],
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } },
    warnings: [],
  });
  expect(await generate(model)).toMatchObject({
    finishReason: { unified: 'length' },
    usage: { inputTokens: { total: undefined } },
  });
});

test('running out of responses names the last message, unless there is a default', async () => {
  await expect(call(scriptedModel([]), 'what now?')).rejects.toMatchObject({
    code: 'script_exhausted',
    message: expect.stringContaining('what now?'),
  });
  expect((await call(scriptedModel([], { defaultResponse: { text: 'ok' } }))).texts).toEqual([
    { text: 'ok' },
  ]);
  expect(
    (await call(scriptedModel([], { defaultResponse: (asked) => ({ text: `${asked.length}` }) })))
      .texts,
  ).toEqual([{ text: '1' }]);
});

test('says which responses nobody has asked for', async () => {
  const model = scriptedModel([{ text: 'a' }, { text: 'b' }, () => ({ text: 'c' })]);
  await call(model);
  expect(model.remaining).toBe(2);
  expect(() => model.assertDone()).toThrow(
    'has 3 responses and was called 1 times. The first that is left: {"text":"b"}',
  );
  await call(model);
  expect(() => model.assertDone()).toThrow(expect.objectContaining({ code: 'script_unused' }));
  expect((await call(model)).texts).toEqual([{ text: 'c' }]);
  model.assertDone();
  const any = scriptedModel(() => ({ text: 'x' }));
  any.assertDone();
  expect(any.remaining).toBe(0);
});

test('fails as it is told, in whichever way it is asked', async () => {
  const failure = new Error('no');
  await expect(call(scriptedModel([{ error: failure }]))).rejects.toBe(failure);
  await expect(call(scriptedModel([{ text: 'half', streamError: failure }]))).rejects.toBe(failure);
  await expect(call(scriptedModel([{ text: 'half', cut: true }]))).rejects.toMatchObject({
    code: 'model_stream_cut',
  });
  expect((await call(scriptedModel([{ text: 'x', finishReason: 'length' }]))).finishReason).toBe(
    'length',
  );
  await expect(generate(scriptedModel([{ error: failure }]))).rejects.toBe(failure);
  await expect(generate(scriptedModel([{ text: 'half', streamError: failure }]))).rejects.toBe(
    failure,
  );
  await expect(generate(scriptedModel([{ text: 'half', cut: true }]))).rejects.toMatchObject({
    code: 'ECONNRESET',
  });
});

test('an abort ends a delay, before the answer and within it', async () => {
  const controller = new AbortController();
  const options = { prompt: prompt('x'), abortSignal: controller.signal };
  const clock = testClock();
  const whole = callModel(
    scriptedModel([{ text: 'x', delayMs: 600_000 }]),
    options,
    systemClock,
    undefined,
  );
  const streamed = callModel(
    scriptedModel([{ chunks: ['a', 'b'], chunkDelayMs: 1 }], { clock }),
    options,
    systemClock,
    undefined,
  );
  const generated = Promise.resolve(
    scriptedModel([{ chunks: ['a', 'b'], chunkDelayMs: 1 }], { clock }).doGenerate(options),
  );
  await turns();
  controller.abort(new Error('enough'));
  await expect(whole).rejects.toThrow('enough');
  await expect(streamed).rejects.toThrow('enough');
  await expect(generated).rejects.toThrow('enough');
});

test('delays and gaps are waited for on the clock of the test', async () => {
  const clock = testClock();
  const model = scriptedModel([{ chunks: ['a', 'b', 'c'], delayMs: 1_000, chunkDelayMs: 500 }], {
    clock,
  });
  const deltas: string[] = [];
  const sink = {
    text: (delta: string) => void deltas.push(delta),
    thought: () => undefined,
    toolArgs: () => undefined,
  };
  const answer = callModel(model, { prompt: prompt('x') }, clock, sink);
  const after = async (ms: number): Promise<string> => {
    clock.advance(ms);
    await turns();
    return deltas.join('');
  };
  expect(await after(999)).toBe('');
  expect(await after(1)).toBe('a');
  expect(await after(499)).toBe('a');
  expect(await after(1)).toBe('ab');
  expect(await after(500)).toBe('abc');
  expect(await answer).toMatchObject({ texts: [{ text: 'abc' }], finishReason: 'stop' });
});

test('a reader that leaves ends the stream, and nothing fails behind it', async () => {
  const clock = testClock();
  const { stream } = await scriptedModel([{ chunks: ['a', 'b'], chunkDelayMs: 10 }], {
    clock,
  }).doStream({ prompt: prompt('x') });
  const reader = stream.getReader();
  await reader.read();
  await reader.cancel();
  clock.advance(10);
  await turns();
});

test.each<[what: string, make: () => unknown, message: string]>([
  ['no responses', () => scriptedModel('x' as never), 'the responses must be a list or a function'],
  [
    'a misspelt part',
    () => scriptedModel([{ text: 'a' }, { tooCalls: [] } as never]),
    'response 2: there is no option `tooCalls` (did you mean `toolCalls`?)',
  ],
  [
    'a call without a name',
    () => scriptedModel([{ toolCalls: [{} as never] }]),
    'response 1: a call in `toolCalls` has no `name`',
  ],
  ['a text that is none', () => scriptedModel([{ text: 5 as never }]), '`text` must be a string'],
  [
    'text in two forms',
    () => scriptedModel([{ text: 'a', chunks: ['b'] }]),
    '`text` and `chunks` are both given',
  ],
  [
    'an answer of a call that fails',
    () => scriptedModel([{ text: 'a', error: new Error('b') }]),
    '`text` is given beside `error`',
  ],
  [
    'a misspelt count',
    () => scriptedModel([{ usage: { inputTokens: 1, outputTokns: 2 } as never }]),
    'did you mean `outputTokens`?',
  ],
  [
    'a misspelt option',
    () => scriptedModel([], { modelID: 'x' } as ScriptedModelOptions),
    'did you mean `modelId`?',
  ],
  ['no clock', () => scriptedModel([], { clock: {} as never }), '`clock` must be a clock'],
  [
    'a bad default',
    () => scriptedModel([], { defaultResponse: { delayMs: -1 } }),
    '`defaultResponse`: `delayMs` must be a number from 0',
  ],
])('refuses %s', (_what, make, message) => {
  expect(make).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(message) }),
  );
});

test('what a function gives is checked, too', async () => {
  await expect(call(scriptedModel(() => ({ txt: 'x' }) as never))).rejects.toThrow(
    'what the function gave for call 1: there is no option `txt`',
  );
});

describe('a window', () => {
  const ask = (text: string) => ({
    prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }],
  });

  test('longer prompts are refused as providers refuse them, and use up no response', async () => {
    const model = scriptedModel([{ text: 'Here.' }], { contextWindow: 100 });
    const refusal = {
      statusCode: 400,
      message: expect.stringContaining('maximum context length is 100 tokens'),
    };
    await expect(model.doGenerate(ask('long '.repeat(100)))).rejects.toMatchObject(refusal);
    expect([model.refused, model.remaining, model.calls.length]).toEqual([1, 1, 1]);
    const prompt = ask('short');
    const tokens = Math.ceil(JSON.stringify(prompt.prompt).length / 3);
    expect(await model.doGenerate(prompt)).toMatchObject({
      content: [{ text: 'Here.' }],
      usage: { inputTokens: { total: tokens } },
    });
    expect(model.refused).toBe(1);
  });

  test(
    'usage that a response has is reported, and without a window nothing ' + 'is counted',
    async () => {
      const told = scriptedModel([{ text: 'Here.', usage: { inputTokens: 7, outputTokens: 1 } }], {
        contextWindow: 1_000,
      });
      expect(await told.doGenerate(ask('short'))).toMatchObject({
        usage: { inputTokens: { total: 7 } },
      });
      const plain = scriptedModel([{ text: 'Here.' }]);
      expect(await plain.doGenerate(ask('long '.repeat(100_000)))).toMatchObject({
        usage: { inputTokens: { total: 10 } },
      });
      expect([plain.refused, plain.contextWindow]).toEqual([0, undefined]);
    },
  );

  test('agents know it, or not', async () => {
    const text = 'long '.repeat(1_000);
    const known = await run(
      agent({ name: 'a', model: scriptedModel([{ text: 'never' }], { contextWindow: 500 }) }),
      text,
    );
    const model = scriptedModel([{ text: 'never' }], { contextWindow: 500, isWindowKnown: false });
    const unknown = await run(agent({ name: 'a', model }), text);
    for (const result of [known, unknown])
      expect(result.error?.code).toBe('model_context_overflow');
    expect([
      toModel(scriptedModel([], { contextWindow: 500 })).contextWindow,
      toModel(model).contextWindow,
      model.refused,
    ]).toEqual([500, undefined, 1]);
  });

  test('what cannot be meant is refused', () => {
    expect(() => scriptedModel([], { contextWindow: 0 })).toThrow(
      /`contextWindow` must be a whole number/,
    );
    expect(() => scriptedModel([], { isWindowKnown: false })).toThrow(
      /`isWindowKnown` needs `contextWindow`/,
    );
  });

  test('promptTooLong is the answer of a provider', async () => {
    const model = scriptedModel([{ error: promptTooLong(4_000, 5_000) }]);
    const result = await run(agent({ name: 'a', model }), 'Go');
    expect(result.error).toMatchObject({ code: 'model_context_overflow' });
  });
});

test('a function gets everything that the model got', async () => {
  const model = scriptedModel((_prompt, _call, { toolChoice }) => ({
    text: toolChoice?.type ?? 'free',
  }));
  const options = { prompt: prompt('hi'), toolChoice: { type: 'none' as const } };
  expect(await model.doGenerate(options)).toMatchObject({ content: [{ text: 'none' }] });
  expect(await generate(model)).toMatchObject({ content: [{ text: 'free' }] });
  const listed = scriptedModel([
    (_prompt, call, { toolChoice }) => ({ text: `${call} ${toolChoice?.type}` }),
  ]);
  expect(await listed.doGenerate(options)).toMatchObject({ content: [{ text: '0 none' }] });
});
