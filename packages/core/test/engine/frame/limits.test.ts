import { agent, agentTool, memoryStore, parallel, runtime, step, tool } from 'adjutant';
import { scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { app, busy, limitDecisions } from './busy-agent.ts';

const broken = tool({
  name: 'broken',
  description: 'Fails',
  schema: z.object({ at: z.number() }),
  execute: ({ args }) => {
    throw new Error(`Broken at ${args.at}.`);
  },
});
const look = tool({
  name: 'look',
  description: 'Looks',
  readOnly: true,
  schema: z.object({ at: z.number() }),
  execute: () => 'seen',
});

describe('what a call may answer', () => {
  test(
    'is left to the model without a limit, is 4,096 tokens with one, and less when less is ' +
      'left',
    async () => {
      const free = scriptedModel([{ text: 'ok' }]);
      await app().run(agent({ name: 'free', model: free }), 'Go');
      expect(free.calls[0]?.maxOutputTokens).toBeUndefined();
      const ample = scriptedModel([{ text: 'ok' }]);
      await app().run(agent({ name: 'ample', model: ample, limits: { tokens: 100_000 } }), 'Go');
      expect(ample.calls[0]?.maxOutputTokens).toBe(4_096);
      const scarce = scriptedModel([{ text: 'ok' }]);
      const { session } = await app().run(
        agent({ name: 'scarce', model: scarce, limits: { tokens: 2_000 } }),
        'Go',
      );
      const most = scarce.calls[0]?.maxOutputTokens ?? 0;
      expect(most).toBeGreaterThan(500);
      expect(most).toBeLessThan(1_000);
      expect(session.events.find(({ type }) => type === 'model_start')).toMatchObject({
        maxOutputTokens: most,
      });
    },
  );

  test('is limited by money as by tokens, where the price is known', async () => {
    const priced = runtime({
      app: 'limits',
      prices: { scripted: { input: 1_000, output: 10_000 } },
    });
    const model = scriptedModel([{ text: 'ok' }]);
    await priced.run(agent({ name: 'rich', model, limits: { cost: 5 } }), 'Go');
    const most = model.calls[0]?.maxOutputTokens ?? 0;
    expect(most).toBeGreaterThan(100);
    expect(most).toBeLessThan(500);
    const unpriced = scriptedModel([{ text: 'ok' }]);
    await app().run(agent({ name: 'unpriced', model: unpriced, limits: { cost: 0.001 } }), 'Go');
    expect(unpriced.calls[0]?.maxOutputTokens).toBeUndefined();
  });
});

describe('a limit that leaves no room', () => {
  test('for any call ends the agent with an account of it, without a call', async () => {
    const model = scriptedModel([]);
    const result = await app().run(agent({ name: 'poor', model, limits: { tokens: 50 } }), 'Go');
    expect(result).toMatchObject({ status: 'completed', stopReason: 'token_limit', rounds: 0 });
    expect(result.output).toContain('the tokens that it may use are used up');
    expect(limitDecisions(result.session.events)).toMatchObject([
      { decision: 'exhausted', data: { of: 'agent', used: 0, limit: 50 } },
    ]);
  });

  test('for a last answer ends the agent with what it said before', async () => {
    const model = busy('look', { inputTokens: 900, outputTokens: 60 });
    const result = await app().run(
      agent({ name: 'chatty', model, tools: [look], limits: { tokens: 1_000 } }),
      'Go',
    );
    expect(result).toMatchObject({
      status: 'completed',
      stopReason: 'token_limit',
      output: 'note 0',
      rounds: 1,
    });
  });

  test('fails the agent that wants that, and says what was needed', async () => {
    const result = await app().run(
      agent({ name: 'strict', model: scriptedModel([]), limits: { tokens: 50, onLimit: 'fail' } }),
      'Go',
    );
    expect(result).toMatchObject({
      status: 'error',
      stopReason: 'token_limit',
      error: { code: 'budget_exceeded' },
    });
    expect(result.error?.message).toMatch(/0 of 50 are used, and the next call may need \d+/);
  });
});

describe('agents below an agent', () => {
  const greedy = () =>
    agent({
      name: 'greedy',
      model: busy('look', { inputTokens: 60, outputTokens: 90 }),
      tools: [look],
    });
  const boss = (limits: { tokens?: number }) => {
    const model = scriptedModel([
      { toolCalls: [{ name: 'greedy', args: { message: 'Look around.' } }] },
      { text: 'The boss says so.' },
    ]);
    return agent({ name: 'boss', model, tools: [agentTool(greedy())], limits });
  };

  test.each([
    ['their caller', { tokens: 2_500 }, {}],
    ['the run', {}, { tokens: 2_500 }],
  ])('are stopped by the limit of %s in time for its answer', async (_whose, own, limits) => {
    const result = await app().run(boss(own), { input: 'Go', limits });
    expect(result).toMatchObject({ status: 'completed', output: 'The boss says so.' });
    const [decision] = limitDecisions(result.session.events).filter(
      ({ decision: what }) => what === 'exhausted',
    );
    expect(decision).toMatchObject({ data: { reason: 'token_limit', limit: 2_500 } });
    expect(decision?.invocationId).toContain('/');
  });
});

describe('failed attempts', () => {
  test('end an agent that has had too many of them', async () => {
    let calls = 0;
    const model = scriptedModel(() =>
      calls++ < 3
        ? { toolCalls: [{ name: 'broken', args: { at: calls } }] }
        : { text: 'It is broken.' },
    );
    const result = await app().run(
      agent({ name: 'unlucky', model, tools: [broken], limits: { errors: 3 } }),
      'Go',
    );
    expect(result).toMatchObject({
      status: 'completed',
      output: 'It is broken.',
      stopReason: 'error_limit',
    });
    expect(model.calls.at(-1)?.toolChoice).toEqual({ type: 'none' });
  });

  test('are counted over the whole run', async () => {
    const part = (name: string) =>
      agent({ name, model: busy('broken'), tools: [broken], limits: { onLimit: 'fail' } });
    const runnables = [part('a'), part('b')];
    const result = await app().run(parallel({ name: 'both', runnables, failFast: false }), {
      input: 'Go',
      limits: { errors: 4 },
    });
    const ends = result.session.events.filter(
      (event) => event.type === 'invocation_end' && event.invocationId.includes('/'),
    );
    expect(ends).toMatchObject([{ stopReason: 'error_limit' }, { stopReason: 'error_limit' }]);
    const failed = result.session.events.filter(
      (event) => event.type === 'tool_result' && event.attempt > 0,
    );
    expect(failed.length).toBeLessThanOrEqual(5);
  });

  test(
    'of the model count too, and the account stands for an answer that ' + 'fails as well',
    async () => {
      const error = Object.assign(new Error('overloaded'), { statusCode: 503, isRetryable: true });
      const model = {
        kind: 'model' as const,
        provider: 'scripted',
        modelId: 'm',
        settings: { retry: { initialDelayMs: 1 } },
        load: () => down,
      };
      const down = scriptedModel(() => ({ error }));
      const result = await app().run(agent({ name: 'down', model, limits: { errors: 2 } }), 'Go');
      expect(result).toMatchObject({ status: 'completed', stopReason: 'error_limit' });
      expect(result.output).toContain('too many attempts failed');
    },
  );
});

describe('depth', () => {
  const leaf = step({ name: 'leaf', execute: (ctx) => ctx.complete('leaf') });
  const middle = step({
    name: 'middle',
    execute: async (ctx) => ctx.complete((await ctx.call(leaf)).output ?? null),
  });
  const top = step({
    name: 'top',
    execute: async (ctx) => ctx.complete((await ctx.call(middle)).output ?? null),
  });

  test('of calls is limited by the run', async () => {
    expect(await app().run(top, { limits: { depth: 2 } })).toMatchObject({
      status: 'completed',
      output: 'leaf',
    });
    const refused = await app().run(top, { limits: { depth: 1 } });
    const ends = refused.session.events.filter(
      (event) => event.type === 'invocation_end' && event.status === 'error',
    );
    expect(ends[0]).toMatchObject({ error: { code: 'handoff_refused' } });
  });

  test('is five at most', () => {
    expect(() => runtime({ app: 'deep', limits: { depth: 6 } })).toThrow(
      /`depth` is a whole number from 1 to 5/,
    );
  });
});

test('limits are warned of at nine tenths, once each', async () => {
  const model = busy('look', { inputTokens: 10, outputTokens: 5 });
  const result = await app().run(
    agent({ name: 'walker', model, tools: [look], limits: { rounds: 10 } }),
    'Go',
  );
  expect(
    limitDecisions(result.session.events).map(({ decision, data }) => [
      decision,
      data?.['reason'],
      data?.['used'],
    ]),
  ).toEqual([
    ['warn', 'round_limit', 9],
    ['exhausted', 'round_limit', 10],
  ]);
});

test('what somebody allows beyond the limit of the run is for all of its agents', async () => {
  const asker = agent({
    name: 'asker',
    model: busy('look', { inputTokens: 400, outputTokens: 90 }),
    tools: [look],
    limits: { rounds: 4, onLimit: 'ask' },
  });
  const plain = agent({ name: 'plain', model: scriptedModel([{ text: 'plain says so' }]) });
  const body = step({
    name: 'body',
    execute: async (ctx) => {
      await ctx.call(asker, { message: 'Go' });
      return ctx.complete((await ctx.call(plain, { message: 'Go' })).output ?? null);
    },
  });
  const app = runtime({
    app: 'limits',
    store: memoryStore(),
    runnables: [body, asker, plain],
    limits: { tokens: 1_500 },
  });
  const waiting = await app.run(body, { session: 's' });
  expect(waiting.status).toBe('yielded');
  const [request] = waiting.pendingCalls;
  expect(request).toMatchObject({
    kind: 'limit',
    request: { details: { reason: 'token_limit', of: 'run' } },
  });
  await app.requests.answer(request?.requestId ?? '', { decision: 'continue', input: 50_000 });
  let result = await app.resume('s');
  // Its own rounds are asked about next.
  expect(result.status).toBe('yielded');
  await app.requests.answer(result.pendingCalls[0]?.requestId ?? '', { decision: 'reject' });
  result = await app.resume('s');
  expect(result).toMatchObject({ status: 'completed', output: 'plain says so' });
  await app.close();
});

test(
  'tokens for thinking come on top of what an answer may have, and within ' + 'the limit',
  async () => {
    const model = scriptedModel([{ text: 'ok' }]);
    const thinking = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_000 } } };
    const claude = {
      kind: 'model' as const,
      provider: 'scripted',
      modelId: 'thinker',
      settings: { maxTokens: 2_000, providerOptions: thinking },
      load: () => model,
    };
    await app().run(agent({ name: 'thinker', model: claude, limits: { tokens: 5_000 } }), 'Go');
    const most = model.calls[0]?.maxOutputTokens ?? 0;
    expect(most).toBeGreaterThan(800);
    // Answer and thoughts fit twice, as it is part of the next prompt, and a last answer with its
    // thoughts behind it.
    expect(2 * (most + 1_000) + 1_100).toBeLessThanOrEqual(5_000);
  },
);

test('what a hook answers in the place of the model needs no tokens', async () => {
  const hooks = {
    beforeModel: () => ({ stepEvents: [{ type: 'assistant' as const, text: 'from the hook' }] }),
  };
  const result = await app().run(
    agent({ name: 'hooked', model: scriptedModel([]), hooks, limits: { tokens: 50 } }),
    'Go',
  );
  expect(result).toMatchObject({ status: 'completed', output: 'from the hook' });
  expect(result.stopReason).toBeUndefined();
});

test(
  'each model without a price is named at the start, also those that are asked only when ' +
    'others cannot answer',
  async () => {
    const priced = runtime({ app: 'limits', prices: { known: { input: 1, output: 1 } } });
    const model = [
      scriptedModel([{ text: 'ok' }], { modelId: 'known' }),
      scriptedModel([], { modelId: 'unheard' }),
    ];
    const { session } = await priced.run(agent({ name: 'careful', model }), {
      input: 'Go',
      limits: { cost: 1 },
    });
    const unknown = limitDecisions(session.events).filter(
      ({ decision }) => decision === 'cost_unknown',
    );
    expect(unknown.map(({ data }) => data?.['model'])).toEqual(['scripted:unheard']);
  },
);
