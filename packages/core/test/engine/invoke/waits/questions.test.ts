import { type Approval, memoryStore, parallel, type RuntimeOptions, runtime } from 'adjutant';
import {
  advanceTime,
  approve,
  eventually,
  input,
  meanwhile,
  reject,
  runTest,
  testClock,
  user,
} from 'adjutant/testing';
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { asking, failure } from './asking-step.ts';

const minutes = 60_000;

describe('a question', () => {
  test('for approval gives who decided, and why', async () => {
    const { output, pendingBefore } = await askedOnce(reject({ by: 'ann', reason: 'too long' }));
    expect(pendingBefore).toMatchObject({
      kind: 'approval',
      name: 'release',
      request: { agent: 'asking', summary: 'Publish?', options: ['approve', 'reject'] },
    });
    expect(output).toEqual({ approved: false, by: 'user:ann', reason: 'too long' });
    expect((await askedOnce(approve({ by: 'operator:cfo' }))).output).toEqual({
      approved: true,
      by: 'operator:cfo',
    });
  });

  test('for approval that nobody answers is not approved', async () => {
    expect((await askedOnce(advanceTime(30 * minutes))).output).toMatchObject({
      approved: false,
      by: 'runtime',
    });
  });

  test('that expires may have a default, or go to others', async () => {
    const { output } = await runTest(
      asking((ctx) =>
        Promise.all([
          ctx.ask('kept', { message: '?', expiresInMs: minutes, onExpire: { default: 'red' } }),
          ctx.ask('allowed', {
            message: '?',
            approval: true,
            expiresInMs: minutes,
            onExpire: { default: 'approve' },
          }),
          ctx.ask('escalated', {
            message: '?',
            approval: true,
            mayDecide: ['ann'],
            expiresInMs: minutes,
            onExpire: 'escalate',
            escalateTo: ['bob'],
          }),
        ]),
      ),
      [
        user('Go'),
        advanceTime(minutes),
        meanwhile(({ pending }) =>
          expect(pending.map(({ name, request }) => [name, request.mayDecide])).toEqual([
            ['escalated', ['bob']],
          ]),
        ),
        approve({ by: 'bob' }),
      ],
    );
    expect(output).toEqual([
      'red',
      { approved: true, by: 'runtime' },
      { approved: true, by: 'user:bob' },
    ]);
  });

  test('for a value throws when it is rejected or expires', async () => {
    const { output } = await runTest(
      asking((ctx) =>
        Promise.all([
          failure(ctx.ask('colour', 'Which colour?')),
          failure(ctx.ask('size', { message: 'Which size?', expiresInMs: minutes })),
        ]),
      ),
      [user('Go'), reject({ tool: 'colour', reason: 'ask somebody else' }), advanceTime(minutes)],
    );
    expect(output).toEqual([
      {
        code: 'question_rejected',
        message: 'The question was rejected ("colour"): ask somebody else.',
      },
      { code: 'question_expired', message: 'Nobody answered in time ("size").' },
    ]);
  });

  test('lasts as long as it says, else as long as its app says', async () => {
    const clock = testClock();
    const runnable = asking((ctx) =>
      Promise.all([
        ctx.ask('usual', 'Which colour?'),
        ctx.ask('short', { message: 'Which size?', expiresInMs: minutes }),
        ctx.ask('endless', { message: 'Which name?', expiresInMs: false }),
        ctx.ask('leave', { message: 'Publish?', approval: true }),
      ]),
    );
    const lifetimes = async (defaults: NonNullable<RuntimeOptions['defaults']>) => {
      const app = runtime({ app: 'news', defaults, ports: { clock } });
      const { pendingCalls } = await app.run(runnable);
      return pendingCalls.map(({ expiresAt }) => expiresAt && expiresAt - clock.now());
    };
    const days = 24 * 60 * minutes;
    expect(await lifetimes({})).toEqual([30 * days, minutes, undefined, 30 * minutes]);
    const own = { inputExpiresInMs: 2 * days, approvalExpiresInMs: 5 * minutes };
    expect(await lifetimes(own)).toEqual([2 * days, minutes, undefined, 5 * minutes]);
    const endless = await lifetimes({ inputExpiresInMs: false });
    expect(endless).toEqual([undefined, minutes, undefined, 30 * minutes]);
  });

  test('has a value of its schema, which is checked when it is given', async () => {
    const tags = z.array(z.string()).transform((all) => all.join(' '));
    const { output } = await runTest(
      asking(async (ctx) => {
        const asked = ctx.ask('tags', { message: 'Which tags?', schema: tags });
        expectTypeOf(asked).toEqualTypeOf<Promise<string>>();
        return asked;
      }),
      [
        user('Go'),
        meanwhile(async ({ app, pending }) => {
          const { requestId = '' } = pending[0] ?? {};
          await expect(app.requests.answer(requestId, { input: [1] })).rejects.toMatchObject({
            code: 'input_mismatch',
          });
          await expect(
            app.requests.answer(requestId, { decision: 'answer' }),
          ).rejects.toMatchObject({
            code: 'input_mismatch',
          });
          await expect(app.requests.approve(requestId)).rejects.toMatchObject({
            code: 'decision_not_offered',
          });
        }),
        input({ tags: ['new', 'short'] }),
      ],
    );
    expect(output).toBe('new short');
  });

  test('is asked again when only the code can tell that an answer does not fit', async () => {
    const even = z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') });
    const { output, events } = await runTest(
      asking((ctx) => ctx.ask('number', { message: 'Which number?', schema: even })),
      [user('Go'), input({ number: { n: 3 } }), input({ number: { n: 4 } })],
    );
    expect(output).toEqual({ n: 4 });
    expect(events).toContainEqual(
      expect.objectContaining({
        decision: 'ask_again',
        reasoning: expect.stringContaining('must be even'),
      }),
    );
  });

  test('is answered by a message of the user when it asks for a text', async () => {
    const { output } = await runTest(
      asking((ctx) => ctx.ask('name', 'What is your name?')),
      [user('Go'), user('Ann')],
    );
    expect(output).toBe('Ann');
  });

  test('has types', () => {
    asking(async (ctx) => {
      expectTypeOf(ctx.ask('a', 'text')).toEqualTypeOf<Promise<string>>();
      expectTypeOf(ctx.ask('b', { message: 'text' })).toEqualTypeOf<Promise<string>>();
      expectTypeOf(ctx.ask('c', { message: '?', approval: true })).toEqualTypeOf<
        Promise<Approval>
      >();
      const schema = z.object({ n: z.number() });
      expectTypeOf(ctx.ask('d', { message: '?', schema })).toEqualTypeOf<Promise<{ n: number }>>();
      // @ts-expect-error a question is a text
      ctx.ask('e', { message: 5 });
      // @ts-expect-error a question has a message
      ctx.ask('f', { approval: true });
    });
  });
});

describe('questions', () => {
  test('side by side wait together, and are answered in any order', async () => {
    const each = (name: string) =>
      asking((ctx) => Promise.all(['a', 'b'].map((key) => ctx.ask(key, `${name} ${key}?`))), name);
    const { output } = await runTest(
      parallel({ name: 'both', runnables: [each('x'), each('y')] }),
      [
        user('Go'),
        meanwhile(async ({ app, pending }) => {
          expect(pending).toHaveLength(4);
          for (const { requestId, request } of pending.toReversed())
            await app.requests.answer(requestId, { input: request.summary });
        }),
      ],
    );
    expect(output).toEqual({ x: ['x a?', 'x b?'], y: ['y a?', 'y b?'] });
  });

  test('that are left are withdrawn with the end of their step', async () => {
    const { app, output, session } = await runTest(
      asking((ctx) => Promise.race([ctx.ask('one', 'One?'), ctx.ask('two', 'Two?')])),
      [user('Go'), input({ two: 'second' })],
    );
    expect(output).toBe('second');
    const rows = await app.requests.list({ session: session.id });
    expect(rows.map(({ name, status }) => [name, status]).sort()).toEqual([
      ['one', 'withdrawn'],
      ['two', 'answered'],
    ]);
  });

  test('that nothing awaits does not end the process when it is withdrawn', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const { output } = await runTest(
      asking(async (ctx) => {
        void ctx.ask('one', 'One?');
        void ctx.sleep('an hour', 60 * minutes);
        return 'done';
      }),
      [user('Go')],
    );
    expect(output).toBe('done');
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  test('end with their run', async () => {
    const { app, status, session } = await runTest(
      asking((ctx) => ctx.ask('one', 'One?')),
      [
        user('Go'),
        meanwhile(async ({ app, session }) => {
          await app.cancel(session.id, { by: 'operator', reason: 'enough' });
        }),
      ],
    );
    expect(status).toBe('cancelled');
    expect(await app.requests.list({ session: session.id })).toMatchObject([
      { status: 'cancelled' },
    ]);
  });
});

test('a question of a run with a store is continued by itself', async () => {
  const runnable = asking((ctx) => ctx.ask('name', 'Which name?'));
  const app = runtime({ app: 'news', store: memoryStore(), runnables: [runnable] });
  const { session, pendingCalls } = await app.run(runnable);
  await app.requests.answer(pendingCalls[0]?.requestId ?? '', { input: 'Ann' });
  await eventually(() => session.status === 'completed', { what: 'the end of the run' });
  await app.close();
});

/** Asks for approval, lets a step of the test happen, and gives the output. */
async function askedOnce(happens: Parameters<typeof runTest>[1][number]) {
  const pendingBefore: unknown[] = [];
  const { output } = await runTest(
    asking((ctx) => ctx.ask('release', { message: 'Publish?', approval: true })),
    [user('Go'), meanwhile(({ pending }) => void pendingBefore.push(...pending)), happens],
  );
  return { output, pendingBefore: pendingBefore[0] };
}
