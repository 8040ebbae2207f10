import { describe, expect, test } from 'vitest';
import type { HookContext, ModelCall, ModelResult, SubstituteAnswer } from '../runnables/hooks.ts';
import { type ResponseCacheOptions, responseCache } from './response-cache.ts';

const usage = { inputTokens: 1, outputTokens: 1 };
const answer: ModelResult = {
  stepEvents: [{ type: 'assistant', text: 'hello' }],
  usage,
  finishReason: 'stop',
};

function call(text: string, more: Partial<ModelCall['options']> = {}, model = 'p:m'): ModelCall {
  return {
    model,
    options: { prompt: [{ role: 'user', content: [{ type: 'text', text }] }], ...more },
  };
}

/** A cache in the hands of rounds that begin at a time of the test. */
function cacheWith(options?: ResponseCacheOptions) {
  const cache = responseCache(options);
  let time = 0;
  let rounds = 0;
  const context = (more: Partial<HookContext> = {}): HookContext =>
    ({
      session: { id: 's', app: 'a' },
      invocationId: 'run',
      round: ++rounds,
      now: () => time,
      ...more,
    }) as HookContext;
  return {
    pass: (ms: number) => {
      time += ms;
    },
    /** The answer of the cache; without it, the cache sees the answer of the model. */
    ask: (
      asked: ModelCall,
      given: ModelResult = answer,
      ctx = context(),
    ): SubstituteAnswer | undefined => {
      const found = cache.beforeCall?.(ctx, asked) as SubstituteAnswer | undefined;
      cache.afterModel?.(
        ctx,
        found === undefined
          ? given
          : { ...given, stepEvents: found.stepEvents, substitutedBy: 'responseCache' },
      );
      return found;
    },
    context,
    cache,
  };
}

describe('answers', () => {
  test('are given again for an equal call', () => {
    const { ask } = cacheWith();
    expect(ask(call('hi'))).toBeUndefined();
    expect(ask(call('hi'))).toEqual({ stepEvents: answer.stepEvents, terminal: true });
  });

  test.each([
    ['prompt', call('ho')],
    ['model', call('hi', {}, 'p:other')],
    ['temperature', call('hi', { temperature: 1 })],
    ['tools', call('hi', { tools: [{ type: 'function', name: 'find', inputSchema: {} }] })],
    ['output limit', call('hi', { maxOutputTokens: 5 })],
    ['form of the answer', call('hi', { responseFormat: { type: 'json' } })],
  ])('are not given for another %s', (_what, other) => {
    const { ask } = cacheWith();
    ask(call('hi'));
    expect(ask(other)).toBeUndefined();
  });

  test('the order of members does not matter', () => {
    const { ask } = cacheWith();
    ask(call('hi', { temperature: 1, seed: 2 }));
    expect(ask(call('hi', { seed: 2, temperature: 1 }))).toBeDefined();
  });

  test(
    'are the same whatever the provider called the tool calls in the prompt, as long as they ' +
      'belong together',
    () => {
      const { ask } = cacheWith();
      const withIds = (called: string, answered: string): ModelCall => ({
        model: 'p:m',
        options: {
          prompt: [
            {
              role: 'assistant',
              content: [{ type: 'tool-call', toolCallId: 'other', toolName: 'f', input: {} }],
            },
            {
              role: 'assistant',
              content: [{ type: 'tool-call', toolCallId: called, toolName: 'f', input: {} }],
            },
            {
              role: 'tool',
              content: [
                {
                  type: 'tool-result',
                  toolCallId: answered,
                  toolName: 'f',
                  output: { type: 'text', value: '1' },
                },
              ],
            },
          ],
        },
      });
      ask(withIds('a', 'a'));
      expect(ask(withIds('b', 'b'))).toBeDefined();
      expect(ask(withIds('b', 'other'))).toBeUndefined();
    },
  );

  test('with tool calls do not end the agent', () => {
    const { ask } = cacheWith();
    const stepEvents = [{ type: 'tool_call', name: 'find', args: { q: 1 } }] as const;
    ask(call('hi'), { stepEvents, usage, finishReason: 'tool-calls' });
    expect(ask(call('hi'))).toEqual({ stepEvents, terminal: false });
  });

  test('cannot be changed by whoever gets them', () => {
    const { ask } = cacheWith();
    const args = { q: 1 };
    ask(call('hi'), {
      stepEvents: [{ type: 'tool_call', name: 'find', args }],
      usage,
      finishReason: 'tool-calls',
    });
    args.q = 2;
    const found = ask(call('hi'));
    expect(found?.stepEvents).toEqual([{ type: 'tool_call', name: 'find', args: { q: 1 } }]);
    expect(Object.isFrozen(found?.stepEvents[0])).toBe(true);
  });
});

describe('is not kept', () => {
  test.each([
    ['an answer that was cut off', { ...answer, finishReason: 'length' }],
    ['one without a reason to end', { stepEvents: answer.stepEvents, usage }],
    ['one that a hook gave', { ...answer, substitutedBy: 'a hook' }],
    ['an empty one', { ...answer, stepEvents: [] }],
    [
      'thoughts before a tool call, which are signed',
      {
        ...answer,
        stepEvents: [
          { type: 'thought', text: 'hm' },
          { type: 'tool_call', name: 'f', args: {} },
        ],
      },
    ],
  ] as const)('%s', (_what, given) => {
    const { ask } = cacheWith();
    ask(call('hi'), given as ModelResult);
    expect(ask(call('hi'))).toBeUndefined();
  });

  test('an answer that nobody asked the cache about', () => {
    const { cache, ask, context } = cacheWith();
    cache.afterModel?.(context(), answer);
    expect(ask(call('hi'))).toBeUndefined();
  });
});

describe('time and size', () => {
  test('an answer is kept for five minutes from when it came; a hit does not renew it', () => {
    const { ask, pass } = cacheWith();
    ask(call('hi'));
    pass(299_999);
    expect(ask(call('hi'))).toBeDefined();
    pass(1);
    expect(ask(call('hi'))).toBeUndefined();
    expect(ask(call('hi'))).toBeDefined();
  });

  test('or for as long as is said', () => {
    const { ask, pass } = cacheWith({ ttlMs: 10 });
    ask(call('hi'));
    pass(10);
    expect(ask(call('hi'))).toBeUndefined();
  });

  test('the oldest goes when there are too many', () => {
    const { ask } = cacheWith({ max: 2 });
    for (const text of ['1', '2', '3']) ask(call(text));
    expect(ask(call('3'))).toBeDefined();
    expect(ask(call('2'))).toBeDefined();
    expect(ask(call('1'))).toBeUndefined();
  });

  test('calls beside each other do not take each other for their own', () => {
    const { cache, context } = cacheWith();
    const one = context({ invocationId: 'run/one', round: 1 });
    const two = context({ invocationId: 'run/two', round: 1 });
    cache.beforeCall?.(one, call('one'));
    cache.beforeCall?.(two, call('two'));
    cache.afterModel?.(one, { ...answer, stepEvents: [{ type: 'assistant', text: 'to one' }] });
    cache.afterModel?.(two, { ...answer, stepEvents: [{ type: 'assistant', text: 'to two' }] });
    expect(cache.beforeCall?.(context(), call('one'))).toMatchObject({
      stepEvents: [{ text: 'to one' }],
    });
    expect(cache.beforeCall?.(context(), call('two'))).toMatchObject({
      stepEvents: [{ text: 'to two' }],
    });
  });
});

test.each([{ ttlMs: 0 }, { max: 0 }, { clock: {} }])('%j is refused', (options) => {
  expect(() => responseCache(options as ResponseCacheOptions)).toThrow(
    'responseCache() cannot be set up',
  );
});
