import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { deepFreeze } from '../../../base/json.ts';
import { joined, type ModelSuite, question, weather } from './harness.ts';
import { checkStream } from './stream-rules.ts';

const conversation: LanguageModelV4Prompt = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'How is the weather in Rome and Oslo?' }] },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'I look.' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { city: 'Rome' } },
      { type: 'tool-call', toolCallId: 'c2', toolName: 'weather', input: { city: 'Oslo' } },
    ],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: 'c1',
        toolName: 'weather',
        output: { type: 'json', value: { rain: true } },
      },
      {
        type: 'tool-result',
        toolCallId: 'c2',
        toolName: 'weather',
        output: { type: 'error-text', value: 'No station answers.' },
      },
    ],
  },
  {
    role: 'user',
    content: [{ type: 'text', text: 'And now? Grüße 👋\n"quoted" \\ {"json": [1]}' }],
  },
];

export function promptContract({ describe, expect, test }: ModelSuite): void {
  describe('a call', () => {
    test('takes a conversation with calls, results and errors', async ({ call }) => {
      const answer = await call({ prompt: conversation, tools: [weather] });
      expect(answer.error).toBeUndefined();
      checkStream(answer);
    });

    test('changes nothing of what it is given', async ({ call }) => {
      const options: LanguageModelV4CallOptions = {
        prompt: conversation,
        tools: [weather],
        temperature: 0,
        maxOutputTokens: 500,
      };
      const before = JSON.stringify(options);
      const answer = await call(deepFreeze(structuredClone(options)));
      expect(answer.error).toBeUndefined();
      await call(options);
      expect(JSON.stringify(options)).toBe(before);
    });

    test('knows nothing of the calls before it', async ({ call, respond }) => {
      await respond({ text: ['first'] }, { text: ['second'] });
      expect(joined(await call(), 'text-delta')).toBe('first');
      const second = await call();
      checkStream(second);
      expect(joined(second, 'text-delta')).toBe('second');
    });

    test('is apart from those beside it', async ({ call, respond }) => {
      const texts = Array.from({ length: 5 }, (_, i) => `answer ${i}`);
      await respond(...texts.map((text) => ({ text: [...text] })));
      const answers = await Promise.all(texts.map(() => call()));
      for (const answer of answers) checkStream(answer);
      expect(answers.map((answer) => joined(answer, 'text-delta')).sort()).toEqual(texts);
    });

    test('can be left before its end, and the next one is not disturbed', async ({
      model,
      call,
      respond,
    }) => {
      await respond({ text: ['one ', 'two ', 'three'] }, { text: ['next'] });
      const { stream } = await model.doStream(question);
      for await (const part of stream) if (part.type === 'text-delta') break;
      expect(joined(await call(), 'text-delta')).toBe('next');
    });
  });
}

export function abortContract({ describe, expect, test }: ModelSuite): void {
  describe('an abort', () => {
    test(
      'before the call keeps it from being made',
      async ({ call, respond }) => {
        await respond({ text: ['never'] });
        const answer = await call({
          ...question,
          abortSignal: AbortSignal.abort(new Error('enough')),
        });
        expect(answer.error, 'what it failed with').toBeDefined();
        expect(joined(answer, 'text-delta')).toBe('');
      },
      'abort',
    );

    test(
      'ends a stream that has begun, without a finish, and the next call is answered',
      async ({ call, respond }) => {
        const abort = new AbortController();
        await respond({ text: ['half'], ends: 'never' });
        const answer = await call({ ...question, abortSignal: abort.signal }, (part) => {
          if (part.type === 'text-delta') abort.abort(new Error('enough'));
        });
        checkStream(answer, false);
        expect(answer.error, 'what it failed with').toBeDefined();
        expect(
          answer.parts.some(
            (part) => part.type === 'finish' && part.finishReason.unified === 'stop',
          ),
        ).toBe(false);
        await respond({ text: ['again'] });
        expect(joined(await call(), 'text-delta')).toBe('again');
      },
      'abort',
    );
  });
}

export function failureContract({ describe, expect, test }: ModelSuite): void {
  describe('a failure', () => {
    test(
      'of the request is an error of this call, with its status, and the next call is answered',
      async ({ call, respond }) => {
        for (const status of [400, 401, 429, 500, 503]) {
          await respond({ failsWith: status });
          const answer = await call();
          expect(answer.error, `what ${status} fails with`).toBeDefined();
          expect(statusOf(answer.error), 'the status').toBe(status);
          expect(
            answer.parts.some(
              (part) => part.type === 'finish' && part.finishReason.unified === 'stop',
            ),
          ).toBe(false);
        }
        await respond({ text: ['again'] });
        expect(joined(await call(), 'text-delta')).toBe('again');
      },
      'errors',
    );

    test(
      'of the connection does not look like an end',
      async ({ call, respond }) => {
        await respond({ text: ['half'], ends: 'broken' });
        const answer = await call();
        checkStream(answer, false);
        const finish = answer.parts.find((part) => part.type === 'finish');
        const isEnd =
          finish?.type === 'finish' &&
          ['stop', 'length', 'tool-calls'].includes(finish.finishReason.unified);
        expect(isEnd && answer.error === undefined, 'it looks like an end').toBe(false);
        await respond({ text: ['again'] });
        expect(joined(await call(), 'text-delta')).toBe('again');
      },
      'broken streams',
    );
  });
}

/** Returns the status of an error: retries and fallback models depend on it. */
function statusOf(error: unknown): unknown {
  const { statusCode, status } = (error ?? {}) as {
    readonly statusCode?: unknown;
    readonly status?: unknown;
  };
  return statusCode ?? status;
}
