import {
  agent,
  type EffectContext,
  type EffectOptions,
  type Event,
  type EventOf,
  type EventType,
  memoryStore,
  parallel,
  type Runnable,
  run,
  runtime,
  sequence,
  step,
  ToolFailure,
  tool,
} from 'adjutant';
import { promptOf } from 'adjutant/context';
import { EffectFailedError, EffectUnknownError } from 'adjutant/errors';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { runTree, transcript } from 'adjutant/views';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const of = <Type extends EventType>(events: readonly Event[], type: Type): EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

/**
 * A session that a process has left right after the last of these events, given to another process.
 */
async function continueAfter(
  runnable: Runnable,
  events: readonly Event[],
  clock = testClock(Date.UTC(2026, 1, 1)),
) {
  const app = runtime({
    app: 'effects',
    store: memoryStore(),
    runnables: [runnable],
    ports: { clock },
  });
  await app.sessions.restore({ app: 'effects', id: 's', events });
  return { app, clock, running: app.resume('s') };
}

const lost = () => Promise.reject(Object.assign(new Error('lost'), { code: 'ETIMEDOUT' }));
const http = (status: number) =>
  Promise.reject(Object.assign(new Error(`HTTP ${status}`), { status }));

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
    [{ timeout: 0 }],
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

describe('an effect that is told to stop', () => {
  /** A step whose effect goes on until it is told to end, on a clock that stands still. */
  async function hanging(options?: EffectOptions) {
    const clock = testClock();
    const app = runtime({ app: 'effects', ports: { clock } });
    const session = await app.sessions.open({ id: 's' });
    let signal: AbortSignal | undefined;
    let end: (value: unknown) => void = () => undefined;
    const work = step({
      name: 'work',
      execute: async (ctx) => {
        await ctx.effect(
          'pay',
          (given) => {
            signal = given.signal;
            return new Promise((resolve) => {
              end = resolve;
            });
          },
          options,
        );
      },
    });
    const running = app.run(work, { session, runId: 'run' });
    await eventually(() => signal !== undefined);
    return { clock, session, running, signal: () => signal, end: (value: unknown) => end(value) };
  }

  test(
    'by its timeout is of unknown outcome, and what it brings later is ' + 'recorded as late',
    async () => {
      const clock = testClock();
      const app = runtime({ app: 'effects', ports: { clock } });
      const session = await app.sessions.open({ id: 's' });
      const ends = new Map<string, (value: unknown) => void>();
      let signal: AbortSignal | undefined;
      const caught: unknown[] = [];
      const work = step({
        name: 'work',
        execute: async (ctx) => {
          const waiting = (key: string) => (effect: EffectContext) => {
            signal = effect.signal;
            return new Promise((resolve) => ends.set(key, resolve));
          };
          await ctx
            .effect('pay', waiting('pay'), { timeout: 5_000 })
            .catch((error: unknown) => caught.push(error));
          return ctx.complete(String(await ctx.effect('next', waiting('next'))));
        },
      });
      const running = app.run(work, { session, runId: 'run' });
      await eventually(() => ends.has('pay'));
      clock.advance(5_000);
      expect(signal?.reason).toMatchObject({ code: 'timeout' });
      clock.advance(1_000);
      await eventually(() => ends.has('next'));
      expect(caught).toMatchObject([
        { code: 'effect_unknown', message: expect.stringContaining('5000 ms') },
      ]);
      ends.get('pay')?.('paid');
      await eventually(() => of(session.events, 'tool_result').length === 2);
      ends.get('next')?.('done');
      expect(await running).toMatchObject({ output: 'done' });
      const [unknown, late] = of(session.events, 'tool_result');
      expect(unknown).toMatchObject({ callId: 'run/pay', settled: true, effect: 'unknown' });
      expect(late).toMatchObject({
        callId: 'run/pay',
        settled: false,
        late: true,
        result: { content: 'paid' },
      });
    },
  );

  test('by a cancel is given a second, then the run ends as cancelled', async () => {
    const { clock, session, running, signal } = await hanging();
    running.cancel('enough');
    expect(signal()?.reason).toMatchObject({ code: 'cancelled', message: 'enough' });
    clock.advance(1_000);
    await eventually(() => of(session.events, 'tool_result').length > 0, {
      what: 'a result',
      clock,
    });
    expect(await running).toMatchObject({ status: 'cancelled' });
    expect(of(session.events, 'tool_result')).toMatchObject([{ effect: 'unknown', settled: true }]);
  });

  test('by a stop leaves nothing in the ledger', async () => {
    const { clock, session, running } = await hanging();
    const before = session.events.length;
    running.stop();
    const failed = expect(running).rejects.toMatchObject({ code: 'run_stopped' });
    clock.advance(1_000);
    await failed;
    expect(session.events).toHaveLength(before);
  });

  test('keeps what it did when it ends in its grace', async () => {
    const { session, running, end } = await hanging();
    running.stop();
    end('paid');
    await running.then(undefined, () => undefined);
    expect(of(session.events, 'tool_result')).toMatchObject([
      { settled: true, result: { content: 'paid' } },
    ]);
  });
});

describe('an attempt that was open when its process stopped', () => {
  async function opened(options: EffectOptions = {}) {
    const done: { key: string; attempt: number }[] = [];
    const caught: unknown[] = [];
    const work = step({
      name: 'work',
      execute: async (ctx) => {
        try {
          const attempted = ({ idempotencyKey, attempt }: EffectContext) => {
            done.push({ key: idempotencyKey, attempt });
            return `paid by attempt ${attempt}`;
          };
          return ctx.complete(await ctx.effect('pay', attempted, options));
        } catch (error) {
          caught.push(error);
          throw error;
        }
      },
    });
    const { session } = await runtime({ app: 'effects', ports: { clock: testClock() } }).run(work, {
      runId: 'run',
      session: 's',
    });
    const attempt = of(session.events, 'tool_attempt')[0] as EventOf<'tool_attempt'>;
    const prefix = session.events.slice(0, attempt.seq);
    done.length = 0;
    return { work, prefix, attempt, done, caught };
  }

  test('is reported as unknown, now and whenever the step runs again', async () => {
    const { work, prefix, attempt, done, caught } = await opened();
    const { running } = await continueAfter(work, prefix);
    const { error, session } = await running;
    expect(error).toMatchObject({
      code: 'effect_unknown',
      data: { key: 'pay', idempotencyKey: attempt.key },
    });
    const again = await continueAfter(work, session.events.slice(0, -1));
    expect((await again.running).error).toEqual(error);
    expect(done).toEqual([]);
    expect(caught.every((thrown) => thrown instanceof EffectUnknownError)).toBe(true);
    expect(of(session.events, 'tool_result')).toMatchObject([
      { attempt: 1, settled: true, effect: 'unknown' },
    ]);
  });

  test('is run again under the same key, but not for ever', async () => {
    const { work, prefix, attempt, done } = await opened({ recovery: 'rerun' });
    let events = prefix;
    for (const number of [2, 3]) {
      const { session, output } = await (await continueAfter(work, events)).running;
      expect(done.at(-1)).toEqual({ key: attempt.key, attempt: number });
      expect(output).toBe(`paid by attempt ${number}`);
      events = session.events.slice(0, of(session.events, 'tool_attempt').at(-1)?.seq);
    }
    expect(await (await continueAfter(work, events)).running).toMatchObject({
      error: { code: 'effect_unknown' },
    });
    expect(done).toHaveLength(2);
  });

  test.each([
    ['happened', { happened: true, result: 'found' } as const, 'found', 0],
    ['did not happen', { happened: false } as const, 'paid by attempt 2', 1],
  ])('and that a probe says %s', async (_name, answer, output, runs) => {
    const asked: string[] = [];
    const { work, prefix, attempt, done } = await opened({
      timeout: 5_000,
      recovery: ({ idempotencyKey }) => {
        asked.push(idempotencyKey);
        return answer;
      },
    });
    const clock = testClock(attempt.at);
    const timers: number[] = [];
    const noting = {
      ...clock,
      setTimer: (ms: number, task: () => void) => {
        timers.push(ms);
        return clock.setTimer(ms, task);
      },
    };
    const { running } = await continueAfter(work, prefix, noting);
    // Its owner may only be suspended: it is asked about when the time of the attempt is over.
    await eventually(() => timers.includes(5_000), { what: 'a timer for the deadline' });
    expect(asked).toEqual([]);
    clock.advance(5_000);
    expect(await running).toMatchObject({ output });
    expect(asked).toEqual([attempt.key]);
    expect(done).toHaveLength(runs);
    if (runs > 0) expect(done[0]?.key).not.toBe(attempt.key);
  });

  test.each([
    ['fails', () => Promise.reject(new Error('no answer')), /its probe failed: no answer/],
    [
      'cannot tell',
      () => ({ happened: 'unknown', detail: 'the bank is closed' }) as const,
      /the bank is closed/,
    ],
  ])('stays unknown when its probe %s', async (_name, recovery, message) => {
    const { work, prefix, attempt, done } = await opened({ recovery });
    const { error } = await (await continueAfter(work, prefix, testClock(attempt.at + 60_000)))
      .running;
    expect(error).toMatchObject({
      code: 'effect_unknown',
      message: expect.stringMatching(message),
    });
    expect(done).toEqual([]);
  });
});

test('a probe is asked about a lost connection at once', async () => {
  const work = (happened: boolean) =>
    step({
      name: 's',
      execute: async (ctx) =>
        ctx.complete(
          await ctx.effect('pay', lost, {
            recovery: () => (happened ? { happened, result: 'paid' } : { happened }),
          }),
        ),
    });
  expect(await run(work(true), { runId: 'run' })).toMatchObject({ output: 'paid' });
  expect(await run(work(false), { runId: 'run' })).toMatchObject({
    error: { code: 'effect_failed', data: { errorType: 'timeout' } },
  });
});

describe('an effect of a tool', () => {
  const work = (execute: Parameters<typeof tool>[0]['execute'], more: object = {}) =>
    tool({
      name: 'work',
      description: 'Works',
      schema: z.object({}),
      execute,
      ...more,
    } as Parameters<typeof tool>[0]);
  const calling = (
    definition: ReturnType<typeof work>,
    responses = [{ toolCalls: [{ name: 'work' }] }, { text: 'done' }, { text: 'more' }],
  ) => {
    const model = scriptedModel(responses);
    return { model, boss: agent({ name: 'a', model, tools: [definition] }) };
  };

  test(
    'makes the call one that is continued by running it again, and is itself ' + 'done once',
    async () => {
      const counts = { before: 0, first: 0, second: 0 };
      const definition = work(async (ctx) => {
        counts.before++;
        const first = await ctx.effect('first', () => ++counts.first);
        const second = await ctx.effect('second', () => ++counts.second);
        return [first, second];
      });
      const { boss } = calling(definition);
      const whole = await run(boss, { input: 'Go', runId: 'run', session: 's' });
      const { events } = whole.session;
      const firstResult = of(events, 'tool_result').find(
        ({ callId }) => callId === 'run/r1.0/first',
      ) as Event;
      const { session } = await (
        await continueAfter(
          calling(definition, [{ text: 'done' }]).boss,
          events.slice(0, firstResult.seq),
        )
      ).running;
      expect(counts).toEqual({ before: 2, first: 1, second: 2 });
      expect(
        of(session.events, 'tool_result').filter(
          ({ callId, settled }) => settled && callId === 'run/r1.0',
        ),
      ).toMatchObject([{ result: { status: 'success', content: [1, 2] } }]);
    },
  );

  test(
    'that failed is the failure of the call, and one of unknown outcome leaves that of the ' +
      'call open',
    async () => {
      const settledOf = async (fail: () => Promise<never>, options: object = {}) => {
        let runs = 0;
        const definition = work(
          (ctx) => {
            runs++;
            return ctx.effect('pay', fail);
          },
          { retry: { initialDelayMs: 0 }, ...options },
        );
        const { session } = await run(calling(definition).boss, { input: 'Go', runId: 'run' });
        return {
          runs,
          result: of(session.events, 'tool_result').find(
            ({ callId, settled }) => settled && callId === 'run/r1.0',
          ),
        };
      };
      expect(await settledOf(() => Promise.reject(new ToolFailure('no money')))).toMatchObject({
        runs: 1,
        result: {
          effect: 'none',
          result: { status: 'error_permanent', errorType: 'effect_failed' },
        },
      });
      expect(await settledOf(lost)).toMatchObject({
        runs: 1,
        result: { effect: 'unknown', result: { status: 'unknown' } },
      });
    },
  );

  test('is not shown to models, in reports or in transcripts', async () => {
    const definition = work((ctx) =>
      ctx.effect('secret', () => 'from the effect').then(() => 'from the tool'),
    );
    const { boss, model } = calling(definition);
    const before = step({
      name: 'before',
      execute: async (ctx) => void (await ctx.effect('secret', () => 'from the effect')),
    });
    const next = agent({ name: 'next', model });
    const result = await run(sequence({ name: 'line', runnables: [before, boss, next] }), {
      input: 'Go',
      runId: 'run',
    });
    expect(JSON.stringify(model.calls)).toContain('from the tool');
    expect(JSON.stringify(model.calls)).not.toContain('from the effect');
    const { events } = result.session;
    expect(
      of(events, 'tool_result').filter(({ result: { content } }) => content === 'from the effect'),
    ).toHaveLength(2);
    for (const { seq } of of(events, 'model_start'))
      expect(JSON.stringify(promptOf(events, seq))).not.toContain('from the effect');
    expect(result.toolCalls).toMatchObject([{ callId: 'run/a/r1.0', attempts: 1 }]);
    expect(JSON.stringify(transcript(events))).not.toContain('from the effect');
    expect(runTree(events)[0]?.children.map(({ toolCalls }) => toolCalls.length)).toEqual([
      0, 1, 0,
    ]);
  });

  test('is refused while the arguments are prepared', async () => {
    const definition = work(() => 'ok', {
      prepare: async (ctx: { effect(key: string, run: () => unknown): Promise<unknown> }) =>
        ctx.effect('early', () => 1),
    });
    const { session } = await run(calling(definition).boss, { input: 'Go', runId: 'run' });
    expect(of(session.events, 'tool_result')).toMatchObject([
      { result: { errorType: 'child_in_prepare' } },
    ]);
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

describe('a recorded effect that the code no longer asks for', () => {
  const decisionsOf = (events: readonly Event[]) =>
    of(events, 'decision').map(({ decision }) => decision);

  test(
    'fails a step that is continued, also when the effect is done, unless it ' + 'accepts that',
    async () => {
      const paying = step({
        name: 'work',
        execute: async (ctx) => {
          await ctx.effect('pay', () => 'paid');
          return ctx.complete('paid');
        },
      });
      const whole = await run(paying, { runId: 'run', session: 's' });
      const [attempt] = of(whole.session.events, 'tool_attempt');
      const [result] = of(whole.session.events, 'tool_result');
      for (const cut of [attempt?.seq, result?.seq]) {
        const events = whole.session.events.slice(0, cut);
        const forgetful = step({ name: 'work', execute: (ctx) => ctx.complete('without') });
        const failed = await (await continueAfter(forgetful, events)).running;
        expect(failed).toMatchObject({
          status: 'error',
          error: { code: 'orphaned_effect', message: expect.stringContaining('run/pay') },
        });
        expect(decisionsOf(failed.session.events)).toEqual(['fail_orphaned_effect']);
        const accepting = step({
          name: 'work',
          onDrift: 'accept',
          execute: (ctx) => ctx.complete('without'),
        });
        const accepted = await (await continueAfter(accepting, events)).running;
        expect(accepted).toMatchObject({ status: 'completed', output: 'without' });
        expect(decisionsOf(accepted.session.events)).toEqual(['accept_orphaned_effect']);
      }
      const same = await (await continueAfter(paying, whole.session.events.slice(0, result?.seq)))
        .running;
      expect([same.output, decisionsOf(same.session.events)]).toEqual(['paid', []]);
    },
  );

  test('fails the call of a tool that had it open; one that is done may be left out', async () => {
    const using = (
      execute: Parameters<typeof tool>[0]['execute'],
      responses: Parameters<typeof scriptedModel>[0],
    ) =>
      agent({
        name: 'a',
        model: scriptedModel(responses),
        tools: [
          tool({ name: 'work', description: 'Works', schema: z.object({}), execute } as Parameters<
            typeof tool
          >[0]),
        ],
      });
    const whole = await run(
      using(
        (ctx) => ctx.effect('pay', () => 'paid'),
        [{ toolCalls: [{ name: 'work' }] }, { text: 'done' }],
      ),
      { input: 'Go', runId: 'run', session: 's' },
    );
    const begun = of(whole.session.events, 'tool_attempt').find(
      ({ callId }) => callId === 'run/r1.0/pay',
    )?.seq;
    const done = of(whole.session.events, 'tool_result').find(
      ({ callId }) => callId === 'run/r1.0/pay',
    )?.seq;
    const settledOf = async (cut: number | undefined) => {
      const forgetful = using(() => 'without', [{ text: 'done' }]);
      const { session, status } = await (
        await continueAfter(forgetful, whole.session.events.slice(0, cut))
      ).running;
      expect(status).toBe('completed');
      const result = of(session.events, 'tool_result').find(
        ({ callId, settled }) => settled && callId === 'run/r1.0',
      )?.result;
      return { result, decisions: decisionsOf(session.events) };
    };
    expect(await settledOf(begun)).toMatchObject({
      result: {
        status: 'unknown',
        content: expect.stringContaining('no longer asks for run/r1.0/pay'),
      },
      decisions: ['fail_orphaned_effect'],
    });
    expect(await settledOf(done)).toMatchObject({
      result: { status: 'success', content: 'without' },
      decisions: [],
    });
  });
});
