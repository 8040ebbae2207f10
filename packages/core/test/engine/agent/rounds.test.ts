import { agent, run, runtime, tool } from 'adjutant';
import { eventually, type ScriptedResponse, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { of, quiet, settled, start } from './started-round.ts';

describe('concurrent calls', () => {
  test(
    'results are recorded as they arrive and stand in the next prompt in the order of the ' +
      'calls',
    async () => {
      const gate = Promise.withResolvers<void>();
      const slow = tool({
        name: 'slow',
        description: 'Slow',
        schema: quiet,
        execute: () => gate.promise.then(() => 'slow one'),
      });
      const fast = tool({
        name: 'fast',
        description: 'Fast',
        schema: quiet,
        execute: () => 'fast one',
      });
      const { session, model, running } = await start(
        [slow, fast],
        [{ name: 'slow' }, { name: 'fast' }],
      );
      await eventually(() => settled(session.events).length === 1, { what: 'the fast result' });
      gate.resolve();
      await running;
      expect(settled(session.events).map(({ name }) => name)).toEqual(['fast', 'slow']);
      const message = model.calls[1]?.prompt.at(-1);
      expect(
        message?.role === 'tool' &&
          message.content.map((part) => part.type === 'tool-result' && part.toolName),
      ).toEqual(['slow', 'fast']);
    },
  );

  test('no more run at once than toolConcurrency says', async () => {
    let now = 0;
    let most = 0;
    const work = tool({
      name: 'work',
      description: 'Works',
      schema: quiet,
      execute: async () => {
        most = Math.max(most, ++now);
        for (let turn = 0; turn < 5; turn++) await Promise.resolve();
        now--;
      },
    });
    const { running, session } = await start(
      [work],
      Array.from({ length: 7 }, () => ({ name: 'work' })),
    );
    await running;
    expect(most).toBe(2);
    expect(settled(session.events)).toHaveLength(7);
  });

  test('a message of the user in the middle of a round comes after its results', async () => {
    const gate = Promise.withResolvers<void>();
    const slow = tool({
      name: 'slow',
      description: 'Slow',
      schema: quiet,
      execute: () => gate.promise,
    });
    const { session, model, running } = await start([slow], [{ name: 'slow' }]);
    await eventually(() => of(session.events, 'tool_attempt').length === 1, {
      what: 'the attempt',
    });
    session.addMessage('By the way');
    gate.resolve();
    expect(await running).toMatchObject({ output: 'done', rounds: 2 });
    expect(model.calls[1]?.prompt.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });
});

describe('time', () => {
  test(
    'a tool gets its time and a second more, then its outcome is unknown; what it still ' +
      'brings is late',
    async () => {
      const gate = Promise.withResolvers<string>();
      let reason: unknown;
      const stuck = tool({
        name: 'stuck',
        description: 'Stuck',
        schema: quiet,
        timeoutMs: 5_000,
        execute: (ctx) => {
          ctx.signal.addEventListener('abort', () => {
            reason = ctx.signal.reason;
          });
          return gate.promise;
        },
      });
      const answer = Promise.withResolvers<void>();
      const hold = tool({
        name: 'hold',
        description: 'Holds',
        schema: quiet,
        execute: () => answer.promise,
      });
      const { clock, session, running } = await start(
        [stuck, hold],
        [{ name: 'stuck' }, { name: 'hold' }],
      );
      await eventually(() => of(session.events, 'tool_attempt').length === 2, {
        what: 'the attempts',
      });
      await session.flush();
      await eventually(() => reason !== undefined, { what: 'the abort', clock });
      expect(reason).toMatchObject({ code: 'timeout' });
      expect(settled(session.events)).toHaveLength(0);
      clock.advance(999);
      await session.flush();
      expect(settled(session.events)).toHaveLength(0);
      clock.advance(1);
      await eventually(() => settled(session.events).length === 1, { what: 'the result' });
      expect(settled(session.events)[0]).toMatchObject({
        effect: 'unknown',
        result: { status: 'unknown' },
      });
      gate.resolve('after all');
      await eventually(() => of(session.events, 'tool_result').length === 2, {
        what: 'the late result',
      });
      expect(of(session.events, 'tool_result')[1]).toMatchObject({
        late: true,
        settled: false,
        result: { content: 'after all' },
      });
      answer.resolve();
      expect(await running).toMatchObject({ status: 'completed' });
      expect(settled(session.events)).toHaveLength(2);
    },
  );

  test('a tool that ends within the second has its result', async () => {
    const kind = tool({
      name: 'kind',
      description: 'Kind',
      schema: quiet,
      timeoutMs: 5_000,
      execute: (ctx) =>
        new Promise<string>((resolve) =>
          ctx.signal.addEventListener('abort', () => resolve('partly')),
        ),
    });
    const { clock, session, running } = await start([kind], [{ name: 'kind' }]);
    await eventually(() => settled(session.events).length === 1, {
      what: 'the result',
      clock,
      stepMs: 500,
    });
    expect(settled(session.events)[0]).toMatchObject({
      result: { status: 'success', content: 'partly' },
    });
    await running;
  });

  test('a model that does not answer in a minute is asked once more', async () => {
    const clock = testClock();
    const app = runtime({ app: 'rounds', ports: { clock, random: { next: () => 0.5 } } });
    const session = await app.sessions.open();
    const silent = { ...scriptedModel([]), doStream: () => new Promise<never>(() => undefined) };
    const running = app.run(agent({ name: 'a', model: silent }), { input: 'Go', session });
    await eventually(() => of(session.events, 'model_start').length === 1, {
      what: 'the first call',
    });
    clock.advance(60_000);
    await eventually(() => of(session.events, 'model_end').length === 1, { what: 'its end' });
    expect(of(session.events, 'model_end')[0]).toMatchObject({
      status: 'error',
      retryAfterMs: 500,
      error: { code: 'model_timeout' },
    });
    await eventually(() => of(session.events, 'model_start').length === 2, {
      what: 'the second call',
      clock,
      stepMs: 250,
    });
    clock.advance(60_000);
    expect(await running).toMatchObject({ status: 'error', error: { code: 'model_timeout' } });
    expect(of(session.events, 'model_end')[1]?.retryAfterMs).toBeUndefined();
  });
});

describe('failures of the model', () => {
  async function failing(responses: readonly ScriptedResponse[], clock = testClock()) {
    const app = runtime({ app: 'rounds', ports: { clock, random: { next: () => 1 } } });
    const session = await app.sessions.open();
    const model = scriptedModel(responses);
    const running = app.run(agent({ name: 'a', model }), { input: 'Go', session });
    let over = false;
    const settle = (): void => {
      over = true;
    };
    running.then(settle, settle);
    await eventually(() => over, { what: 'the end', clock });
    return { result: await running, model, ends: of(session.events, 'model_end') };
  }
  const status = (statusCode: number, headers: Record<string, string> = {}) => ({
    error: Object.assign(new Error(`HTTP ${statusCode}`), { statusCode, responseHeaders: headers }),
  });

  test('nothing at all three times is an error', async () => {
    const { result, model, ends } = await failing([{}, { text: '  ' }, {}]);
    expect(result).toMatchObject({ status: 'error', error: { code: 'model_malformed' } });
    expect(model.calls).toHaveLength(3);
    expect(ends.map((end) => end.retryAfterMs)).toEqual([1_000, 2_000, undefined]);
  });

  test('overload is waited out, longer each time, or as long as the provider says', async () => {
    const { result, ends } = await failing([
      status(529),
      status(429, { 'retry-after': '7' }),
      { text: 'at last' },
    ]);
    expect(result).toMatchObject({ status: 'completed', output: 'at last', rounds: 1 });
    expect(ends.map((end) => end.retryAfterMs)).toEqual([1_000, 7_000, undefined]);
  });

  test('a date that the provider names is measured by the clock of the app', async () => {
    const clock = testClock();
    const at = new Date(clock.now() + 30_000);
    const { ends } = await failing(
      [status(429, { 'retry-after': at.toUTCString() }), { text: 'at last' }],
      clock,
    );
    const [waits = 0] = ends.map((end) => end.retryAfterMs);
    expect(waits).toBeGreaterThan(28_000);
    expect(waits).toBeLessThanOrEqual(30_000);
  });

  test('a refusal is final at once', async () => {
    const { result, model } = await failing([status(401)]);
    expect(result.status).toBe('error');
    expect(model.calls).toHaveLength(1);
  });
});

describe('what tools give', () => {
  const giving = async (execute: () => unknown) => {
    const give = tool({ name: 'give', description: 'Gives', schema: quiet, execute });
    const model = scriptedModel([{ toolCalls: [{ name: 'give' }] }, { text: 'done' }]);
    const result = await run(agent({ name: 'a', model, tools: [give] }), 'Go');
    expect(result).toMatchObject({ status: 'completed', output: 'done' });
    return settled(result.session.events)[0]?.result;
  };
  const cyclic: Record<string, unknown> = { name: 'loop' };
  cyclic['self'] = cyclic;

  test.each([
    ['undefined', () => undefined, { status: 'success', content: null }],
    ['a bigint', () => 12n, { status: 'success', content: '12', metadata: { coerced: ['$'] } }],
    [
      'a Date',
      () => ({ at: new Date(0) }),
      {
        status: 'success',
        content: { at: '1970-01-01T00:00:00.000Z' },
        metadata: { coerced: ['$.at'] },
      },
    ],
    [
      'a cycle',
      () => cyclic,
      {
        status: 'success',
        content: { name: 'loop', self: '[Circular]' },
        metadata: { coerced: ['$.self'] },
      },
    ],
    [
      'a thenable that is no Promise',
      // biome-ignore lint/suspicious/noThenProperty: this is what is tested
      () => ({ then: (resolve: (value: string) => void) => resolve('then') }),
      { status: 'success', content: 'then' },
    ],
  ])('%s is a success in some form of JSON', async (_what, execute, expected) => {
    expect(await giving(execute)).toMatchObject(expected);
  });

  test.each([
    [
      'a string',
      () => {
        throw 'no luck';
      },
      'no luck',
    ],
    [
      'null',
      () => {
        throw null;
      },
      'null',
    ],
    ['an object', () => Promise.reject({ why: 'so' }), 'so'],
  ])('%s that is thrown is a failure that the model reads', async (_what, execute, words) => {
    const result = await giving(execute);
    expect(result).toMatchObject({ errorType: 'tool_error' });
    expect(JSON.stringify(result?.content)).toContain(words);
  });

  test(
    'a call that cannot be made is refused without an attempt, and the model ' + 'is told why',
    async () => {
      const add = tool({
        name: 'add',
        description: 'Adds',
        schema: z.object({ a: z.number() }),
        execute: ({ args }) => args.a,
      });
      const model = scriptedModel([
        {
          toolCalls: [
            { name: 'ad', args: {} },
            { name: 'add', args: '{"a":' },
            { name: 'add', args: { a: 'one' } },
          ],
        },
        { text: 'done' },
      ]);
      const { session } = await run(agent({ name: 'a', model, tools: [add] }), 'Go');
      expect(of(session.events, 'tool_attempt')).toHaveLength(0);
      expect(
        settled(session.events).map(({ attempt, effect, result }) => [
          attempt,
          effect,
          result.errorType,
        ]),
      ).toEqual([
        [0, 'none', 'unknown_tool'],
        [0, 'none', 'validation_error'],
        [0, 'none', 'validation_error'],
      ]);
      const [unknown, invalid, wrong] = settled(session.events).map(({ result }) =>
        String(result.content),
      );
      expect(unknown).toContain('add');
      expect(invalid).toContain('JSON');
      expect(wrong).toContain('a');
    },
  );
});
