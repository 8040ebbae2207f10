import {
  agent,
  type EffectContext,
  type EffectOptions,
  type Event,
  type EventOf,
  run,
  runtime,
  step,
  tool,
} from 'adjutant';
import { EffectUnknownError } from 'adjutant/errors';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { continueAfter, lost } from './continued-session.ts';
import { of } from './events-of.ts';

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
            .effect('pay', waiting('pay'), { timeoutMs: 5_000 })
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
      timeoutMs: 5_000,
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
