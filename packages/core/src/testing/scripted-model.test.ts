import { expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { callModel } from '../models/call.ts';
import { scriptedModel } from './scripted-model.ts';

const prompt = (text: string) => [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }];
const call = (model: ReturnType<typeof scriptedModel>, text = 'hi') => callModel(model, { prompt: prompt(text) }, systemClock, undefined);

test('gives its responses in order and keeps what it was asked', async () => {
  const model = scriptedModel([
    { thoughts: 'hm', text: 'a' },
    { chunks: ['b', 'c'], usage: { inputTokens: 1, outputTokens: 2, cachedInputTokens: 1 } },
  ]);
  const messages = prompt('first');
  const first = await callModel(model, { prompt: messages, temperature: 0.5 }, systemClock, undefined);
  messages.push(...prompt('later'));
  const second = await call(model, 'second');
  expect(first).toMatchObject({
    thoughts: [{ text: 'hm' }],
    texts: [{ text: 'a' }],
    usage: { inputTokens: 10, outputTokens: 5 },
    finishReason: 'stop',
  });
  expect(second).toMatchObject({ texts: [{ text: 'bc' }], usage: { inputTokens: 1, outputTokens: 2, cachedInputTokens: 1 } });
  expect(model.calls).toEqual([{ prompt: prompt('first'), temperature: 0.5 }, { prompt: prompt('second') }]);
});

test('numbers its tool calls over its life', async () => {
  const model = scriptedModel((_prompt, n) => ({ toolCalls: [{ name: `t${n}` }, { name: 'u', args: { n } }] }));
  expect((await call(model)).toolCalls.map(({ providerCallId }) => providerCallId)).toEqual(['call_1', 'call_2']);
  expect((await call(model)).toolCalls).toEqual([
    { providerCallId: 'call_3', name: 't1', args: {} },
    { providerCallId: 'call_4', name: 'u', args: { n: 1 } },
  ]);
});

test('running out of responses names the last message, unless there is a default', async () => {
  await expect(call(scriptedModel([]), 'what now?')).rejects.toMatchObject({
    code: 'script_exhausted',
    message: expect.stringContaining('what now?'),
  });
  expect((await call(scriptedModel([], { defaultResponse: { text: 'ok' } }))).texts).toEqual([{ text: 'ok' }]);
});

test('fails as it is told', async () => {
  const failure = new Error('no');
  await expect(call(scriptedModel([{ error: failure }]))).rejects.toBe(failure);
  await expect(call(scriptedModel([{ text: 'half', streamError: failure }]))).rejects.toBe(failure);
  await expect(call(scriptedModel([{ text: 'half', cut: true }]))).rejects.toMatchObject({ code: 'model_stream_cut' });
  expect((await call(scriptedModel([{ text: 'x', finishReason: 'length' }]))).finishReason).toBe('length');
});

test('an abort ends a delay', async () => {
  const controller = new AbortController();
  const answer = callModel(scriptedModel([{ delayMs: 600_000 }]), { prompt: prompt('x'), abortSignal: controller.signal }, systemClock, undefined);
  controller.abort(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
});
