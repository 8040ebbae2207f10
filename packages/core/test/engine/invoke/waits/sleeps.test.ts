import { isAdjutantError, memoryStore, runtime, type StepContext, step } from 'adjutant';
import {
  advanceTime,
  eventually,
  input,
  meanwhile,
  runTest,
  takingOver,
  testClock,
  user,
} from 'adjutant/testing';
import { describe, expect, test } from 'vitest';

const hours = 3_600_000;

const sleeping = (work: (ctx: StepContext) => Promise<unknown>) =>
  step({ name: 'sleeping', execute: async (ctx) => ctx.complete((await work(ctx)) as never) });

describe('a sleep', () => {
  test('of less than five seconds keeps the session', async () => {
    const { output, events } = await runTest(
      sleeping(async (ctx) => {
        await ctx.sleep('short', 4_000);
        return 'awake';
      }),
      [user('Go'), advanceTime(4_000)],
    );
    expect(output).toBe('awake');
    expect(events.map(({ type }) => type)).not.toContain('invocation_yield');
  });

  test('that is longer gives it back, and says until when', async () => {
    const { output } = await runTest(
      sleeping(async (ctx) => {
        await ctx.sleep('long', 2 * hours);
        return 'awake';
      }),
      [
        user('Go'),
        meanwhile(({ result, clock, session }) => {
          expect(result).toMatchObject({
            status: 'yielded',
            pendingCalls: [],
            awaitingInput: false,
          });
          expect(result?.sleepsUntil).toBeLessThanOrEqual(clock.now() + 2 * hours);
          expect(session.status).toBe('sleeping');
        }),
        advanceTime(2 * hours - 1),
        meanwhile(({ result }) => expect(result?.status).toBe('yielded')),
        advanceTime(1),
      ],
    );
    expect(output).toBe('awake');
  });

  test('beside a question leaves the session awaiting its answer', async () => {
    await runTest(
      sleeping(async (ctx) => {
        const first = ctx.sleep('long', 2 * hours).then(() => 'awake');
        return Promise.race([first, ctx.ask('more', 'Go on?')]);
      }),
      [
        user('Go'),
        meanwhile(({ session }) => expect(session.status).toBe('awaiting_input')),
        advanceTime(2 * hours),
      ],
    );
  });

  test('keeps its end when the run is continued before', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const runnable = sleeping(async (ctx) => {
      await ctx.sleep('long', 2 * hours);
      return ctx.now();
    });
    const process = () =>
      runtime({
        app: 'nights',
        store: takingOver(store),
        runnables: [runnable],
        ports: { clock },
        recover: 'manual',
      });
    const first = await process().run(runnable, { session: 's' });
    clock.advance(hours);
    const second = await process().resume('s');
    expect(second).toMatchObject({ status: 'yielded', sleepsUntil: first.sleepsUntil });
    expect(second.session.events.length).toBe(first.session.events.length);
    clock.advance(hours);
    expect((await process().resume('s')).status).toBe('completed');
  });

  test('is ended by an app that looks after its store', async () => {
    const clock = testClock();
    const runnable = sleeping((ctx) => ctx.sleep('long', 2 * hours));
    const app = runtime({
      app: 'nights',
      store: memoryStore({ clock }),
      runnables: [runnable],
      ports: { clock },
    });
    const { session, sleepsUntil } = await app.run(runnable);
    clock.advance((sleepsUntil ?? 0) - clock.now());
    await eventually(() => session.status === 'completed', { what: 'the end of the run' });
    await app.close();
  });

  test('may be until a date, also one in the past', async () => {
    const { output } = await runTest(
      sleeping(async (ctx) => {
        await ctx.sleep('past', { until: new Date(0) });
        await ctx.sleep('now', 0);
        await ctx.sleep('date', { until: new Date(ctx.now() + 10 * hours) });
        return 'awake';
      }),
      [user('Go'), advanceTime(10 * hours)],
    );
    expect(output).toBe('awake');
  });

  test('that loses a race ends with its step, and the race is not decided again', async () => {
    const race = (ctx: StepContext) =>
      Promise.race([
        ctx.ask('name', 'Which name?'),
        ctx.sleep('too late', hours).then(() => 'nobody'),
      ]);
    const twice = sleeping(async (ctx) => {
      const first = await race(ctx);
      await ctx.sleep('rest', 3 * hours);
      return first;
    });
    const answered = await runTest(twice, [
      user('Go'),
      input({ name: 'Ann' }),
      advanceTime(5 * hours),
    ]);
    expect(answered.output).toBe('Ann');
    const late = await runTest(twice, [user('Go'), advanceTime(5 * hours)]);
    expect(late.output).toBe('nobody');
    expect(await late.app.requests.list({})).toMatchObject([{ name: 'name', status: 'withdrawn' }]);
  });

  test('ends when its run is cancelled', async () => {
    const { status } = await runTest(
      sleeping((ctx) => ctx.sleep('long', 9 * hours)),
      [user('Go'), meanwhile(({ app, session }) => app.cancel(session.id, { by: 'operator' }))],
    );
    expect(status).toBe('cancelled');
  });

  test('in a fork ends when it would have ended in the original', async () => {
    const clock = testClock();
    const runnable = sleeping(async (ctx) => {
      await ctx.sleep('long', 2 * hours);
      return 'awake';
    });
    const app = runtime({
      app: 'nights',
      store: memoryStore({ clock }),
      runnables: [runnable],
      ports: { clock },
      recover: 'manual',
    });
    const { session, sleepsUntil } = await app.run(runnable, { session: 's' });
    clock.advance(hours);
    const fork = await app.sessions.fork(session.id, { id: 'copy' });
    expect(await app.resume(fork.id)).toMatchObject({ status: 'yielded', sleepsUntil });
    clock.advance(hours);
    expect((await app.resume(fork.id)).output).toBe('awake');
  });

  test.each([
    ['a negative time', -1],
    ['no number', Number.NaN],
    ['a text', '5 minutes'],
    ['a time after the last date', 1e18],
    ['a bad date', { until: new Date('someday') }],
  ])('is refused with %s', async (_what, time) => {
    const { output } = await runTest(
      sleeping((ctx) =>
        ctx
          .sleep('long', time as never)
          .catch((error: unknown) => isAdjutantError(error) && error.message),
      ),
      [user('Go')],
    );
    expect(output).toMatch(/The sleep "long" cannot begin: the time must be a number/);
  });
});
