import { run, step, type Tool, ToolFailure, toolResult } from 'adjutant';
import { eventually } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { of } from './events-of.ts';
import { type Ctx, callOnce, http, retry, settled, start, work } from './one-call.ts';

describe('prepare', () => {
  test.each([
    [
      'throws',
      () => Promise.reject(new Error('no such order')),
      { status: 'error_permanent', errorType: 'tool_error', content: 'no such order' },
    ],
    ['is refused by a service', () => Promise.reject(http(404)), { errorType: 'http_404' }],
  ])('that %s refuses the call before any attempt', async (_what, prepare, expected) => {
    let executions = 0;
    const { session } = await callOnce(work({ retry, prepare, execute: () => ++executions }));
    expect(executions).toBe(0);
    expect(of(session.events, 'tool_attempt')).toHaveLength(0);
    expect(of(session.events, 'tool_result')).toMatchObject([
      { attempt: 0, settled: true, effect: 'none', result: expected },
    ]);
  });

  test('runs before the attempt is recorded and knows its number and key', async () => {
    const seen: unknown[] = [];
    const { session } = await callOnce(
      work({
        prepare: (ctx) => {
          seen.push(ctx.attempt, ctx.idempotencyKey, of(ctx.session.events, 'tool_attempt').length);
          ctx.state['prepared'] = true;
          return { n: 1 };
        },
        execute: (ctx) => [
          (ctx.args as { n: number }).n,
          typeof ctx.callId,
          typeof ctx.now(),
          ctx.state['prepared'],
        ],
        finalize: (ctx) => [...(ctx.result as unknown[]), ctx.toolName, Object.isFrozen(ctx.args)],
      }),
    );
    const [attempt] = of(session.events, 'tool_attempt');
    expect(seen).toEqual([1, attempt?.key, 0]);
    expect(settled(session.events)[0]?.result.content).toEqual([
      1,
      'string',
      'number',
      true,
      'work',
      true,
    ]);
    expect(session.state['prepared']).toBe(true);
  });

  test('may not begin children, which nothing would protect', async () => {
    const child = step({ name: 'child', execute: () => undefined });
    const { session } = await callOnce(
      work({
        prepare: async (ctx) => {
          await ctx.call(child);
          return {};
        },
        execute: () => 1,
      }),
    );
    expect(of(session.events, 'invocation_start')).toHaveLength(1);
    expect(settled(session.events)[0]).toMatchObject({
      attempt: 0,
      result: { errorType: 'child_in_prepare' },
    });
  });

  test('that does not end is cut like a tool', async () => {
    let executions = 0;
    const { session, running, clock } = await start(
      work({
        timeoutMs: 5_000,
        prepare: () => new Promise(() => undefined),
        execute: () => ++executions,
      }),
    );
    await eventually(() => settled(session.events).length === 1, {
      what: 'the result',
      clock,
      stepMs: 500,
    });
    await running;
    expect(executions).toBe(0);
    expect(settled(session.events)[0]).toMatchObject({
      attempt: 0,
      effect: 'none',
      result: { status: 'timeout' },
    });
  });
});

describe('what was done does not fail for what came of it', () => {
  const broken: readonly (readonly [string, Partial<Tool>, object])[] = [
    [
      'finalize throws',
      { finalize: () => Promise.reject(http(429)) },
      { status: 'error_permanent', errorType: 'http_429' },
    ],
    [
      'finalize says that it failed',
      { finalize: () => toolResult.transient('later') },
      { status: 'error_transient' },
    ],
    [
      'the result does not fit its schema',
      { outputSchema: z.object({ sent: z.boolean() }) },
      { status: 'error_permanent', errorType: 'validation_error' },
    ],
    [
      'the schema itself throws',
      {
        outputSchema: z.unknown().transform(() => {
          throw new Error('broken');
        }),
      },
      { status: 'error_permanent' },
    ],
  ];

  test.each(broken)(
    'when %s, the call is settled once, and not with no effect',
    async (_what, options, expected) => {
      let executions = 0;
      const { session, model } = await callOnce(
        work({ retry, recovery: 'rerun', ...options, execute: () => ++executions }),
      );
      expect(executions).toBe(1);
      expect(of(session.events, 'tool_attempt')).toHaveLength(1);
      const [result] = of(session.events, 'tool_result');
      expect(result).toMatchObject({ settled: true, result: expected });
      expect(result?.effect).toBeUndefined();
      expect(model.calls).toHaveLength(2);
    },
  );

  test('the model reads that it was done', async () => {
    const said = async (options: (typeof broken)[number][1]) =>
      settled((await callOnce(work({ ...options, execute: () => 1 }))).session.events)[0]?.result;
    expect(
      (await said({ finalize: () => Promise.reject(new Error('no printer')) }))?.content,
    ).toMatch(/has done its work.*no printer/);
    expect((await said({ outputSchema: z.string() }))?.content).toMatch(/ran/);
  });

  test('a finalize that does not end is cut, and the tool is not run again', async () => {
    let executions = 0;
    const { session, running, clock } = await start(
      work({
        retry,
        recovery: 'rerun',
        timeoutMs: 5_000,
        execute: () => ++executions,
        finalize: () => new Promise(() => undefined),
      }),
    );
    await eventually(() => settled(session.events).length === 1, {
      what: 'the result',
      clock,
      stepMs: 500,
    });
    await running;
    expect(executions).toBe(1);
    expect(settled(session.events)[0]).toMatchObject({
      attempt: 1,
      result: { status: 'error_permanent', errorType: 'timeout' },
    });
    expect(settled(session.events)[0]?.effect).toBeUndefined();
  });

  test('what says of itself that it failed may be tried again', async () => {
    let executions = 0;
    await callOnce(
      work({
        retry,
        execute: () => (++executions < 3 ? toolResult.transient('later') : 'done'),
        finalize: () => 'finished',
      }),
    );
    expect(executions).toBe(3);
  });
});

describe('after its end', () => {
  const child = step({ name: 'child', execute: () => undefined });
  const uses: readonly (readonly [string, (ctx: Ctx) => unknown])[] = [
    ['call', (ctx) => ctx.call(child)],
    ['spawn', (ctx) => ctx.spawn(child)],
    ['dispatch', (ctx) => ctx.dispatch(child)],
    ['now', (ctx) => ctx.now()],
    ['id', (ctx) => ctx.id('x')],
    ['random', (ctx) => ctx.random('x')],
    ['progress', (ctx) => ctx.progress(1)],
    ['a write', (ctx) => Object.assign(ctx.state, { late: true })],
    ['a deletion', (ctx) => delete ctx.state['early']],
    ['an update', (ctx) => ctx.state.update({ late: true })],
  ];

  async function outcomeOf(use: (ctx: Ctx) => unknown, ctx: Ctx): Promise<string> {
    try {
      await use(ctx);
      return 'accepted';
    } catch (error) {
      return (error as { code?: string }).code ?? 'failed otherwise';
    }
  }

  /** Returns the words of each use, in order. */
  async function useAll(ctx: Ctx): Promise<readonly string[]> {
    const said: string[] = [];
    for (const [name, use] of uses) {
      said.push(`${name}: ${await outcomeOf(use, ctx)}`);
    }
    expect(ctx.state['early']).toBe(1);
    return said;
  }
  const refused = uses.map(([name]) => `${name}: invocation_ended`);
  const noting = (notes: Ctx[], wait?: Promise<void>) =>
    work({
      execute: (ctx: Ctx) => {
        notes.push(ctx);
        ctx.state['early'] = 1;
        return wait;
      },
    });

  test('the context of a tool that ended refuses all that would be recorded', async () => {
    const contexts: Ctx[] = [];
    const { session } = await callOnce(noting(contexts));
    const events = session.events.length;
    expect(await useAll(contexts[0] as Ctx)).toEqual(refused);
    expect(session.events).toHaveLength(events);
    expect(session.state['late']).toBeUndefined();
  });

  test('the context of a step does too', async () => {
    const contexts: Ctx[] = [];
    const { session } = await run(
      step({
        name: 's',
        execute: (ctx) => {
          ctx.state['early'] = 1;
          contexts.push(ctx as never);
        },
      }),
    );
    const events = session.events.length;
    const said = await useAll(contexts[0] as Ctx);
    expect(said.filter((word) => !word.startsWith('progress'))).toEqual(
      refused.filter((word) => !word.startsWith('progress')),
    );
    expect(session.events).toHaveLength(events);
  });

  test(
    'so does that of a tool that took no notice of a stop: nothing is claimed or recorded ' +
      'any more',
    async () => {
      const contexts: Ctx[] = [];
      const { session, running, clock } = await start(
        work({
          execute: (ctx: Ctx) => {
            contexts.push(ctx);
            ctx.state['early'] = 1;
            return new Promise(() => undefined);
          },
        }),
      );
      await eventually(() => contexts.length === 1, { what: 'the tool' });
      running.stop();
      let failure: unknown;
      running.then(undefined, (error: unknown) => {
        failure = error;
      });
      await eventually(() => failure !== undefined, { what: 'the end', clock, stepMs: 500 });
      expect(failure).toMatchObject({ code: 'run_stopped' });
      const events = session.events.length;
      expect((contexts[0] as Ctx).signal.aborted).toBe(true);
      for (const [name, use] of uses)
        expect([name, await outcomeOf(use, contexts[0] as Ctx)]).toEqual([
          name,
          'invocation_ended',
        ]);
      expect(session.events).toHaveLength(events);
      expect(session.ledger.lease.claim).toBeUndefined();
    },
  );
});

test('a tool that failed by itself is classified by what it threw', async () => {
  const failing = work({
    execute: () => Promise.reject(new ToolFailure('full', { errorType: 'fully_booked' })),
  });
  expect(settled((await callOnce(failing)).session.events)[0]).toMatchObject({
    attempt: 1,
    effect: 'none',
    result: { errorType: 'fully_booked' },
  });
});
