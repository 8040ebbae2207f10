import { agent, runtime, type StepContext, step, type ToolContext, tool } from 'adjutant';
import { advanceTime, meanwhile, model, runTest, scriptedModel, user } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { failure } from './asking-step.ts';

const minutes = 60_000;

/** A step whose output is what `work` gives. */
const asking = (work: (ctx: StepContext) => Promise<unknown>, name = 'asking') =>
  step({ name, execute: async (ctx) => ctx.complete((await work(ctx)) as never) });

describe('a question is refused', () => {
  const refusedAs = async (work: (ctx: StepContext) => Promise<unknown>) =>
    (
      await runTest(
        asking((ctx) => failure(work(ctx))),
        [user('Go')],
      )
    ).output;

  test.each([
    ['an empty question', { message: '' }, /`message` must be/],
    ['no question', {}, /`message` must be/],
    ['approval beside a schema', { message: '?', approval: true, schema: z.string() }, /not both/],
    ['approval: false', { message: '?', approval: false }, /`approval` must be `true`/],
    ['no schema', { message: '?', schema: 5 }, /`schema` must be a Standard Schema/],
    ['an unknown option', { message: '?', timeout: 5 }, /timeout/],
    ['an expiry of 0', { message: '?', expiresInMs: 0 }, /`expiresInMs`/],
    ['nobody who may decide', { message: '?', mayDecide: [] }, /`mayDecide`/],
    ['escalation to nobody', { message: '?', onExpire: 'escalate' }, /needs `escalateTo`/],
    [
      'a default that does not fit',
      {
        message: '?',
        schema: z.object({ guests: z.number() }),
        onExpire: { default: { guests: 'two' } },
      },
      /the default of `onExpire` does not fit: \$\.guests must be a number/,
    ],
    [
      'a default that does not fit a JSON Schema',
      { message: '?', schema: { enum: ['red', 'blue'] }, onExpire: { default: 'green' } },
      /the default of `onExpire` does not fit/,
    ],
    [
      'a default that is no text',
      { message: '?', onExpire: { default: 5 } },
      /the default of `onExpire` does not fit/,
    ],
    [
      'a default of an approval that is no decision',
      { message: '?', approval: true, onExpire: { default: true } },
      /`onExpire` of an approval must be 'reject', 'escalate', { default: 'approve' }/,
    ],
  ])('%s', async (_what, question, message) => {
    expect(await refusedAs((ctx) => ctx.ask('key', question as never))).toEqual({
      code: 'invalid_wait',
      message: expect.stringMatching(message),
    });
  });

  test('a key that is none, and one that is taken', async () => {
    expect(await refusedAs((ctx) => ctx.ask('a/b', '?'))).toMatchObject({ code: 'invalid_key' });
    const twice = async (ctx: StepContext) => {
      await ctx.effect('a', () => 1);
      return ctx.ask('a', '?');
    };
    expect(await refusedAs(twice)).toMatchObject({ code: 'invalid_key' });
  });

  test('a question after the end of the step', async () => {
    let kept: StepContext | undefined;
    await runTest(
      asking(async (ctx) => {
        kept = ctx;
      }),
      [user('Go')],
    );
    expect(await failure((kept as StepContext).ask('late', '?'))).toMatchObject({
      code: 'invocation_ended',
    });
  });
});

describe('a default of a question', () => {
  const even = z.number().refine(async (value) => value % 2 === 0);

  test('is refused before anybody is asked', async () => {
    const { session } = await runTest(
      asking((ctx) => ctx.ask('count', { message: '?', onExpire: { default: 5 } })),
      [user('Go')],
    );
    expect(session.status).toBe('error');
    expect(session.events.map(({ type }) => type)).not.toContain('tool_yield');
  });

  test('that only a slow check can show as unfit ends the question when its time is over', async () => {
    const question = { message: '?', schema: even, expiresInMs: minutes, onExpire: { default: 5 } };
    const { output } = await runTest(
      asking((ctx) => failure(ctx.ask('count', question))),
      [user('Go'), advanceTime(minutes)],
    );
    expect(output).toMatchObject({ code: 'question_expired' });
  });

  test('is not looked at again once the question is asked: the code may have changed it', async () => {
    let given: unknown = 'red';
    const { output } = await runTest(
      asking((ctx) => ctx.ask('colour', { message: '?', onExpire: { default: given as never } })),
      [
        user('Go'),
        meanwhile(() => {
          given = 5;
        }),
        advanceTime(30 * 24 * 60 * minutes),
      ],
    );
    expect(output).toBe('red');
  });
});

describe('an effect does not use the context of its body', () => {
  const sub = step({ name: 'sub', execute: (ctx) => ctx.complete('done') });
  type Use = (ctx: StepContext) => unknown;
  const uses: readonly (readonly [string, Use, string, RegExp])[] = [
    ['ask', (ctx) => ctx.ask('inside', '?'), 'invalid_wait', /wait before it or after it/],
    ['sleep', (ctx) => ctx.sleep('inside', 5), 'invalid_wait', /wait before it or after it/],
    ['call', (ctx) => ctx.call(sub), 'invalid_effect', /cannot use `ctx.call`/],
    ['spawn', (ctx) => void ctx.spawn(sub), 'invalid_effect', /cannot use `ctx.spawn`/],
    ['dispatch', (ctx) => void ctx.dispatch(sub), 'invalid_effect', /cannot use `ctx.dispatch`/],
    ['effect', (ctx) => ctx.effect('b', () => 1), 'invalid_effect', /cannot use `ctx.effect`/],
    ['remember', (ctx) => ctx.remember('Rain'), 'invalid_effect', /cannot use `ctx.remember`/],
    [
      'state',
      (ctx) => {
        ctx.state['x'] = 1;
      },
      'invalid_effect',
      /cannot use `ctx.state`/,
    ],
  ];

  test.each(uses)('%s: the effect fails, and says why', async (_use, use, code, message) => {
    const app = runtime({ app: 'test' });
    const whole = asking((ctx) => ctx.effect('work', () => use(ctx) as never));
    const { status, error, session } = await app.run(whole, { input: 'Go', runId: 'r' });
    expect(status).toBe('error');
    expect(error).toMatchObject({
      code: 'effect_failed',
      message: expect.stringMatching(message) as string,
      data: { key: 'work', errorType: code },
    });
    expect(session.events.filter(({ invocationId }) => invocationId !== 'r')).toHaveLength(0);
    expect(session.events.map(({ type }) => type)).not.toContain('state_change');
  });

  test('in tools too', async () => {
    const use = tool({
      name: 'use',
      description: 'Uses',
      schema: { type: 'object' },
      execute: (ctx: ToolContext) => ctx.effect('work', () => ctx.call(sub) as never),
    });
    const { session } = await runTest(
      agent({ name: 'user', model: scriptedModel([]), tools: [use] }),
      [user('Go'), model({ toolCalls: [{ name: 'use' }] }), model('Done.')],
    );
    const results = session.events.filter(({ type }) => type === 'tool_result');
    expect(results.at(-1)).toMatchObject({
      result: { content: expect.stringContaining('cannot use `ctx.call`') as string },
    });
  });

  test('reads it, and runs something else, which has effects and waits of its own', async () => {
    const app = runtime({ app: 'test' });
    const other = step({
      name: 'other',
      execute: async (ctx) => {
        ctx.state['seen'] = await ctx.effect('own', () => 1);
        await ctx.sleep('nap', 1);
        return ctx.complete((await ctx.call(sub)).output as string);
      },
    });
    const whole = asking(async (ctx) => {
      ctx.state['name'] = 'Ann';
      return ctx.effect('work', async () => {
        const { output, error } = await app.run(other);
        return { output, error, name: ctx.state['name'], id: ctx.id('mine').length } as never;
      });
    });
    expect((await app.run(whole)).output).toEqual({ output: 'done', name: 'Ann', id: 20 });
  });
});
