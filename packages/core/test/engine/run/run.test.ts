import { agent, memoryStore, run, runtime, sequence, step } from 'adjutant';
import { sqlite } from 'adjutant/sqlite';
import { eventually, scriptedModel, testClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';
import { done, types } from './done-step.ts';

/** A step that goes on only when it is told to stop. */
function stuck(name = 'stuck') {
  const begun = Promise.withResolvers<void>();
  const runnable = step({
    name,
    execute: (ctx) => {
      begun.resolve();
      return new Promise((resolve) =>
        ctx.signal.addEventListener('abort', () => resolve(undefined)),
      );
    },
  });
  return { runnable, begun: begun.promise };
}

describe('ending early', () => {
  test('cancel is recorded and final, also for a process that finds it', async () => {
    const app = runtime({ app: 'run', store: memoryStore() });
    const { runnable, begun } = stuck();
    const running = app.run(sequence({ name: 'all', runnables: [runnable, done('never')] }), {
      session: 's',
      runId: 'run',
    });
    await begun;
    running.cancel('no longer needed');
    const result = await running;
    expect(result).toMatchObject({
      status: 'cancelled',
      error: { code: 'cancelled', message: 'no longer needed' },
    });
    expect(types(result.session.events)).toEqual([
      'invocation_start',
      'invocation_start',
      'cancel',
      'invocation_end',
      'invocation_end',
    ]);
    const cut = result.session.events.slice(0, 3);
    let ran = false;
    const other = runtime({ app: 'run', store: memoryStore() });
    const again = step({
      name: 'stuck',
      execute: () => {
        ran = true;
      },
    });
    const session = await other.sessions.restore({ app: 'run', id: 's', events: cut });
    expect(
      await other.run(sequence({ name: 'all', runnables: [again, done('never')] }), { session }),
    ).toMatchObject({
      status: 'cancelled',
      error: { message: 'no longer needed' },
    });
    expect(ran).toBe(false);
  });

  test('cancel after the end changes nothing', async () => {
    const controller = new AbortController();
    const running = run(done(), { signal: controller.signal });
    const { session, status } = await running;
    const before = session.events.length;
    running.cancel();
    running.stop();
    controller.abort();
    await session.flush();
    expect([session.events.length, status]).toEqual([before, 'completed']);
  });

  test(
    'a signal cancels, also one that is aborted before the run begins: then ' + 'nothing runs',
    async () => {
      const { runnable, begun } = stuck();
      const controller = new AbortController();
      const running = run(runnable, { signal: controller.signal });
      await begun;
      controller.abort(new Error('the client has gone'));
      expect(await running).toMatchObject({
        status: 'cancelled',
        error: { message: 'the client has gone' },
      });
      let ran = false;
      const never = step({
        name: 'never',
        execute: () => {
          ran = true;
        },
      });
      expect(await run(never, { signal: AbortSignal.abort() })).toMatchObject({
        status: 'cancelled',
      });
      expect(ran).toBe(false);
    },
  );

  test('stop gives the run back without an end, and another process continues it', async () => {
    const store = memoryStore();
    const { runnable, begun } = stuck();
    const first = runtime({ app: 'run', store });
    const running = first.run(runnable, { session: 's', runId: 'run' });
    await begun;
    running.stop();
    await expect(running).rejects.toMatchObject({ code: 'run_stopped', data: { runId: 'run' } });
    const second = runtime({ app: 'run', store });
    const result = await second.run(done('stuck'), { session: 's' });
    expect(result).toMatchObject({ status: 'completed', runId: 'run' });
    expect(types(result.session.events)).toEqual([
      'invocation_start',
      'invocation_resume',
      'invocation_end',
    ]);
  });

  test(
    'a run has ten minutes of active time; the time in which nobody works on it does not ' +
      'count',
    async () => {
      const store = memoryStore();
      const clock = testClock();
      const first = runtime({ app: 'run', store, ports: { clock } });
      const { runnable, begun } = stuck();
      const running = first.run(
        step({
          name: 'outer',
          execute: async (ctx) => void (await ctx.call(runnable, { timeoutMs: 300_000 })),
        }),
        {
          session: 's',
        },
      );
      await begun;
      clock.advance(60_000);
      running.stop();
      clock.advance(1_000);
      await expect(running).rejects.toMatchObject({ code: 'run_stopped' });
      clock.advance(86_400_000);
      const later = stuck();
      const continued = runtime({ app: 'run', store, ports: { clock } }).run(
        step({
          name: 'outer',
          execute: async (ctx) => {
            const { error } = await ctx.call(later.runnable, { timeoutMs: 300_000 });
            return ctx.complete(error?.code ?? 'no error');
          },
        }),
        { session: 's' },
      );
      let result: unknown;
      void continued.then((value) => {
        result = value;
      });
      await later.begun;
      clock.advance(200_000);
      await new Promise<void>((resolve) => setImmediate(resolve));
      expect(result).toBeUndefined();
      await eventually(() => result !== undefined, { what: 'the end', clock, stepMs: 10_000 });
      expect(result).toMatchObject({ status: 'completed', output: 'timeout' });
    },
  );

  test('a run that takes longer ends as an error', async () => {
    const clock = testClock();
    const { runnable, begun } = stuck();
    const running = runtime({ app: 'run', ports: { clock } }).run(runnable);
    await begun;
    clock.advance(599_999);
    clock.advance(1_001);
    expect(await running).toMatchObject({ status: 'error', error: { code: 'timeout' } });
  });
});

describe('one session', () => {
  test('a run id is started once; asking again gives its recorded result', async () => {
    let count = 0;
    const counting = step({ name: 'count', execute: (ctx) => ctx.complete(++count) });
    const app = runtime({ app: 'run' });
    const first = await app.run(counting, { session: 's', runId: 'order-17', input: 'Go' });
    const second = await app.run(counting, { session: 's', runId: 'order-17', input: 'Go' });
    expect([first.output, second.output, count]).toEqual([1, 1, 1]);
    expect(second.session.events).toHaveLength(first.session.events.length);
  });

  test('a recorded run id keeps its result while another run is open', async () => {
    const app = runtime({ app: 'run' });
    const finished = await app.run(
      step({ name: 'stuck', execute: (ctx) => ctx.complete('first') }),
      { session: 's', runId: 'one' },
    );
    const store = memoryStore();
    const { runnable, begun } = stuck();
    const other = runtime({ app: 'run', store });
    const session = await other.sessions.restore(finished.session.toJSON());
    const open = other.run(runnable, { session, runId: 'two' });
    await begun;
    open.stop();
    await expect(open).rejects.toMatchObject({ code: 'run_stopped' });
    const third = runtime({ app: 'run', store });
    expect(await third.run(done('stuck'), { session: 's', runId: 'one' })).toMatchObject({
      output: 'first',
    });
    expect(await third.run(done('stuck'), { session: 's' })).toMatchObject({
      output: 'stuck is done',
      runId: 'two',
    });
  });

  test.each(['', 'a/b', 'a>b', 'a#1', 'a~2'])('%j cannot be a run id', async (runId) => {
    await expect((async () => run(done(), { runId }))()).rejects.toMatchObject({
      code: 'invalid_run',
    });
  });

  test('a session with an open run of something else is busy', async () => {
    const store = memoryStore();
    const { runnable, begun } = stuck();
    const app = runtime({ app: 'run', store, recover: 'manual' });
    const open = app.run(runnable, { session: 's' });
    await begun;
    await expect(app.run(done('other'), { session: 's' })).rejects.toMatchObject({
      code: 'session_busy',
    });
    const elsewhere = runtime({ app: 'run', store, recover: 'manual' });
    await expect(elsewhere.run(done('other'), { session: 's' })).rejects.toMatchObject({
      code: 'session_busy',
    });
    open.stop();
    await expect(open).rejects.toMatchObject({ code: 'run_stopped' });
    await expect(elsewhere.run(done('other'), { session: 's' })).rejects.toMatchObject({
      code: 'session_busy',
    });
  });

  test('a fenced run appends nothing more, and its tools are told', async () => {
    const store = memoryStore();
    const ledgers = store.for({ tenant: 'default', app: 'run' });
    const { runnable, begun } = stuck();
    const app = runtime({ app: 'run', store });
    const session = await app.sessions.open({ id: 's' });
    const running = app.run(runnable, { session });
    await begun;
    await session.flush();
    const claim = await ledgers.claim('s', 'another', { ttlMs: 30_000, force: true });
    session.addMessage('too late');
    await eventually(() => session.ledger.failure !== undefined);
    running.stop();
    await expect(running).rejects.toMatchObject({ code: 'run_stopped' });
    expect((await ledgers.head('s'))?.seq).toBe(claim.seq);
  });

  test('what is written just before a run lands before it, on SQLite too', async () => {
    const app = runtime({ app: 'run', store: sqlite(':memory:') });
    for (let round = 0; round < 5; round++) {
      const session = await app.sessions.open();
      session.state['n'] = round;
      if (round % 2 === 1) await new Promise<void>((resolve) => setImmediate(resolve));
      const result = await app.run(
        step({ name: 's', execute: (ctx) => ctx.complete(ctx.state['n'] as number) }),
        { session },
      );
      expect(result.output).toBe(round);
    }
    await app.close();
  });

  test(
    'the state, status and agent of a session are read from its events, and ' + 'survive JSON',
    async () => {
      const app = runtime({ app: 'run' });
      const session = await app.sessions.open();
      expect(session.status).toBe('active');
      await app.run(
        agent({ name: 'helper', model: scriptedModel([{ text: 'Hello' }]), output: 'said' }),
        { input: 'Go', session },
      );
      expect([session.status, session.currentAgentName, session.state['said']]).toEqual([
        'completed',
        'helper',
        'Hello',
      ]);
      session.addMessage('And now?');
      expect(session.status).toBe('active');
      const copy = session.clone();
      expect(copy.toJSON()).toEqual(session.toJSON());
      copy.state['said'] = 'other';
      expect(session.state['said']).toBe('Hello');
      await app.run(step({ name: 'bad', execute: (ctx) => ctx.fail('no') }), { session });
      expect(session.status).toBe('error');
    },
  );
});
