import {
  agent,
  type EffectContext,
  type EffectOptions,
  memoryStore,
  parallel,
  run,
  runtime,
  step,
  tool,
} from 'adjutant';
import { EffectFailedError } from 'adjutant/errors';
import { eventually, scriptedModel } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { continueAfter, http, lost } from './continued-session.ts';
import { of } from './events-of.ts';

describe('an effect of a step', () => {
  test('is recorded as an attempt, durable before it begins, and a result', async () => {
    const app = runtime({ app: 'effects' });
    const session = await app.sessions.open();
    let durable: readonly string[] = [];
    const work = step({
      name: 'work',
      execute: async (ctx) => {
        ctx.state['before'] = 1;
        const given = await ctx.effect('charge', ({ idempotencyKey, attempt }) => {
          durable = session.events.slice(0, session.ledger.durableSeq).map(({ type }) => type);
          return { idempotencyKey, attempt };
        });
        return ctx.complete(given);
      },
    });
    const result = await app.run(work, { session, runId: 'run' });
    expect(durable).toEqual(['invocation_start', 'state_change', 'tool_attempt']);
    const [attempt] = of(session.events, 'tool_attempt');
    expect(attempt).toMatchObject({
      callId: 'run/charge',
      invocationId: 'run',
      attempt: 1,
      epoch: 1,
    });
    expect(result.output).toEqual({ idempotencyKey: attempt?.key, attempt: 1 });
    expect(of(session.events, 'tool_result')).toMatchObject([
      {
        callId: 'run/charge',
        name: 'charge',
        settled: true,
        result: { status: 'success', content: result.output },
      },
    ]);
    expect(of(session.events, 'state_change')).toMatchObject([
      { flush: 'charge', changes: [{ key: 'before', newValue: 1 }] },
    ]);
    expect(of(session.events, 'tool_call')).toEqual([]);
  });

  test(
    'is given back and not done again when the step runs again, whatever the order in which ' +
      'it asks',
    async () => {
      let done = 0;
      let order = ['a', 'b', 'c'];
      const work = step({
        name: 'work',
        execute: async (ctx) => {
          ctx.state['n'] = ((ctx.state['n'] as number | undefined) ?? 0) + 1;
          const given = await Promise.all(
            order.map((key) => ctx.effect(key, () => ({ key, at: ++done }), { recovery: 'rerun' })),
          );
          ctx.state['n'] = ((ctx.state['n'] as number | undefined) ?? 0) + 1;
          return ctx.complete([...given].sort((x, y) => x.key.localeCompare(y.key)));
        },
      });
      const first = await run(work, { runId: 'run', session: 's' });
      const results = of(first.session.events, 'tool_result');
      for (const { seq } of results) {
        order = [...order.slice(1), order[0] as string];
        done = 100 * seq;
        const { running } = await continueAfter(work, first.session.events.slice(0, seq));
        const second = await running;
        expect(second.session.state['n']).toBe(2);
        const output = second.output as { key: string; at: number }[] | undefined;
        for (const recorded of results.filter((result) => result.seq <= seq))
          expect(output).toContainEqual(recorded.result.content);
      }
    },
  );

  test('gives JSON, and the same JSON when the step runs again', async () => {
    const seen: unknown[] = [];
    const work = step({
      name: 'work',
      execute: async (ctx) => {
        const given = await ctx.effect('when', () => ({
          at: new Date(0),
          nothing: undefined,
          list: [1],
        }));
        seen.push(structuredClone(given));
        given.list.push(2);
        seen.push(await ctx.effect('void', () => undefined));
        seen.push((await ctx.effect('large', () => 'x'.repeat(100_000))).length);
      },
    });
    const first = await run(work, { runId: 'run', session: 's' });
    expect(seen).toEqual([{ at: '1970-01-01T00:00:00.000Z', list: [1] }, null, 100_000]);
    expect(of(first.session.events, 'tool_result')[0]?.result.metadata).toEqual({
      coerced: ['$.at'],
    });
    const store = memoryStore();
    const app = runtime({ app: 'effects', store, runnables: [work] });
    await app.sessions.restore({
      ...first.session.toJSON(),
      app: 'effects',
      id: 's',
      events: first.session.events.slice(0, -1),
    });
    expect(await app.resume('s')).toMatchObject({ status: 'completed' });
    expect(seen.slice(3)).toEqual(seen.slice(0, 3));
  });

  test('that failed without an effect fails again in the same way, and may be caught', async () => {
    let tried = 0;
    const caught: unknown[] = [];
    const work = step({
      name: 'work',
      execute: async (ctx) => {
        await ctx
          .effect('pay', () => {
            tried++;
            return http(404);
          })
          .catch((error: unknown) => caught.push(error));
        return ctx.complete('went on');
      },
    });
    const first = await run(work, { runId: 'run', session: 's' });
    expect(first.output).toBe('went on');
    const { running } = await continueAfter(work, first.session.events.slice(0, -1));
    expect((await running).output).toBe('went on');
    expect(tried).toBe(1);
    expect(caught[0]).toBeInstanceOf(EffectFailedError);
    expect(caught[0]).toMatchObject({
      code: 'effect_failed',
      data: { key: 'pay', errorType: 'http_404', attempt: 1 },
      result: { content: 'HTTP 404' },
    });
    expect(JSON.stringify(caught[1])).toBe(JSON.stringify(caught[0]));
  });

  test(
    'that nobody waits for does not end the process, and the step does not end ' + 'before it',
    async () => {
      const work = step({
        name: 'work',
        execute: (ctx) => {
          void ctx.effect('pay', async () => {
            await new Promise<void>((resolve) => setImmediate(resolve));
            throw new Error('no');
          });
        },
      });
      const { session, status } = await run(work, { runId: 'run' });
      expect(status).toBe('completed');
      expect(session.events.map(({ type }) => type).slice(-2)).toEqual([
        'tool_result',
        'invocation_end',
      ]);
    },
  );

  test.each<[string, EffectOptions | undefined, string]>([
    ['no options', undefined, 'effect_unknown'],
    ['a retry', { retry: { initialDelayMs: 0 } }, 'effect_unknown'],
  ])('of unknown outcome is not repeated, with %s', async (_name, options, code) => {
    let tried = 0;
    const work = step({
      name: 'work',
      execute: async (ctx) =>
        void (await ctx.effect(
          'pay',
          () => {
            tried++;
            return lost();
          },
          options,
        )),
    });
    const { error, session } = await run(work, { runId: 'run' });
    expect(error).toMatchObject({
      code,
      data: { key: 'pay', idempotencyKey: of(session.events, 'tool_attempt')[0]?.key },
    });
    expect(tried).toBe(1);
    expect(of(session.events, 'tool_result')).toMatchObject([{ settled: true, effect: 'unknown' }]);
  });

  test(
    'is repeated as `retry` says: under a new key after a failure without effect, under the ' +
      'same key when it may be run again',
    async () => {
      const keys: string[] = [];
      const trying = (options: EffectOptions, fail: () => Promise<never>) => {
        keys.length = 0;
        const attempted = ({ idempotencyKey, attempt }: EffectContext) => {
          keys.push(idempotencyKey);
          return attempt < 3 ? fail() : attempt;
        };
        return run(
          step({
            name: 's',
            execute: async (ctx) => ctx.complete(await ctx.effect('pay', attempted, options)),
          }),
          { runId: 'run' },
        );
      };
      const retry = { initialDelayMs: 0 };
      expect(await trying({ retry }, () => http(429))).toMatchObject({ output: 3 });
      expect(new Set(keys).size).toBe(3);
      expect(await trying({ retry, recovery: 'rerun' }, lost)).toMatchObject({ output: 3 });
      expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
      expect(await trying({ retry: { ...retry, attempts: 2 } }, () => http(429))).toMatchObject({
        error: { code: 'effect_failed' },
      });
      expect(await trying({ retry }, () => http(404))).toMatchObject({
        error: { code: 'effect_failed' },
      });
      expect(keys).toHaveLength(1);
    },
  );

  test.each(['', 'a/b', 'a#b', 'a~b', 'a>b', 'r1.0'])('cannot be named %j', async (key) => {
    const { error } = await run(
      step({ name: 's', execute: async (ctx) => void (await ctx.effect(key, () => 1)) }),
    );
    expect(error).toMatchObject({ code: 'invalid_key' });
  });

  test('shares its name with no other effect and no child', async () => {
    const child = step({ name: 'child', execute: () => undefined });
    const fails = async (execute: Parameters<typeof step>[0]['execute']) =>
      expect(await run(step({ name: 's', execute }))).toMatchObject({
        status: 'error',
        error: { code: 'invalid_key' },
      });
    await fails(
      async (ctx) => void (await Promise.all([ctx.effect('a', () => 1), ctx.effect('a', () => 2)])),
    );
    await fails(async (ctx) => {
      await ctx.effect('child', () => 1);
      await ctx.call(child);
    });
    await fails(async (ctx) => {
      await ctx.call(child, { key: 'a' });
      await ctx.effect('a', () => 1);
    });
  });

  test.each<[unknown]>([
    [{ recovery: 'ask' }],
    [{ timeoutMs: 0 }],
    [{ retries: 2 }],
    [{ retry: { attempts: 0 } }],
  ])('refuses the options %j', async (options) => {
    const { error } = await run(
      step({
        name: 's',
        execute: async (ctx) => void (await ctx.effect('a', () => 1, options as EffectOptions)),
      }),
    );
    expect(error).toMatchObject({ code: 'invalid_effect', data: { key: 'a' } });
  });

  test('is refused after the step has ended', async () => {
    let late: (() => Promise<unknown>) | undefined;
    await run(
      step({
        name: 's',
        execute: (ctx) => {
          late = () => ctx.effect('a', () => 1);
        },
      }),
    );
    await expect(late?.()).rejects.toMatchObject({ code: 'invocation_ended' });
  });
});

test('a run does not come to rest while an effect is under way', async () => {
  const ask = tool({
    name: 'ask',
    description: 'Asks',
    schema: z.object({}),
    yieldSchema: z.object({ ok: z.boolean() }),
  });
  const asking = agent({
    name: 'asking',
    model: scriptedModel([{ toolCalls: [{ name: 'ask' }] }, { text: 'thanks' }]),
    tools: [ask],
  });
  let end: (value: string) => void = () => undefined;
  let signal: AbortSignal | undefined;
  const work = step({
    name: 'work',
    execute: async (ctx) => {
      const slow = ctx.effect('slow', (effect) => {
        signal = effect.signal;
        return new Promise<string>((resolve) => {
          end = resolve;
        });
      });
      await Promise.all([slow, ctx.call(asking, { key: 'asking' })]);
    },
  });
  const app = runtime({ app: 'effects', runnables: [work, asking] });
  const session = await app.sessions.open({ id: 's' });
  const running = app.run(work, { session, runId: 'run' });
  await eventually(() => of(session.events, 'tool_yield').length > 0);
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
  expect(signal?.aborted).toBe(false);
  end('done');
  expect(await running).toMatchObject({ status: 'yielded' });
  expect(of(session.events, 'tool_result')).toMatchObject([
    { callId: 'run/slow', result: { content: 'done' } },
  ]);
});

test('effects of branches stay apart', async () => {
  const branch = (name: string) =>
    step({ name, execute: async (ctx) => ctx.complete(await ctx.effect('same', () => name)) });
  expect(await run(parallel({ name: 'p', runnables: [branch('a'), branch('b')] }))).toMatchObject({
    output: { a: 'a', b: 'b' },
  });
});

test(
  'a shared write that was to land with an effect and was refused is told after it, and the ' +
    'effect is kept',
  async () => {
    const stateSchema = { session: {}, user: { balance: z.number() } };
    const app = runtime({ app: 'bank', store: memoryStore(), stateSchema });
    const mine = await app.sessions.open({ id: 'mine', userId: 'u1', stateSchema });
    const other = await app.sessions.open({ id: 'other', userId: 'u1', stateSchema });
    const work = step({
      name: 'work',
      stateSchema,
      execute: async (ctx) => {
        await other.observeShared();
        other.state.user.balance = 99;
        await other.flush();
        ctx.state.user.balance = 1;
        await ctx.effect('pay', () => 'paid');
        return ctx.complete('went on');
      },
    });
    expect(await app.run(work, { session: mine })).toMatchObject({
      status: 'error',
      error: { code: 'state_conflict' },
    });
    expect(of(mine.events, 'tool_result')).toMatchObject([
      { settled: true, result: { content: 'paid' } },
    ]);
    expect(
      (await app.sessions.open({ id: 'third', userId: 'u1', stateSchema })).state.user.balance,
    ).toBe(99);
    await app.close();
  },
);
