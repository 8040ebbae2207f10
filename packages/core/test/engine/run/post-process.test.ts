import {
  agent,
  type Event,
  type LifecycleOptions,
  memoryStore,
  type Runnable,
  runtime,
  step,
} from 'adjutant';
import { appendBoundaries, scriptedModel, testClock, tickingClock } from 'adjutant/testing';
import { describe, expect, test } from 'vitest';

const failing = step({
  name: 'failing',
  execute: () => {
    throw new Error('The file is missing');
  },
});

function followed(runnables: readonly Runnable[], lifecycle: LifecycleOptions = {}) {
  const seen: string[] = [];
  const app = runtime({
    app: 'followed',
    store: memoryStore(),
    recover: 'manual',
    runnables,
    ports: { clock: tickingClock() },
    lifecycle: {
      ...lifecycle,
      postProcess: (_ctx, { status, output, error }) => {
        seen.push(`${status} ${JSON.stringify(output)} ${error?.code}`);
      },
    },
  });
  return { app, seen };
}

const ends = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'invocation_end' ? [`${event.invocationId} ${event.status}`] : [],
  );

describe('what comes after a failed run', () => {
  test('gets its error, and the run keeps its own', async () => {
    const { app, seen } = followed([failing]);
    const run = app.run(failing, { runId: 'r' });
    const { status, error, session } = await run;
    await run.settled();
    expect({ status, code: error?.code }).toEqual({ status: 'error', code: 'step_error' });
    expect(seen).toEqual(['error undefined step_error']);
    expect(ends(session.events)).toEqual(['r error', 'r/~postProcess completed']);
    await app.close();
  });

  test('comes after an agent whose model fails, too', async () => {
    const clerk = agent({ name: 'clerk', model: scriptedModel([{ error: new Error('Gone') }]) });
    const { app, seen } = followed([clerk]);
    const run = app.run(clerk, 'Hello');
    expect((await run).status).toBe('error');
    await run.settled();
    expect(seen).toEqual([expect.stringMatching(/^error undefined /)]);
    await app.close();
  });

  test('comes after a run whose time was over', async () => {
    const clock = testClock();
    const begun = Promise.withResolvers<void>();
    const slow = step({
      name: 'slow',
      execute: ({ signal }) => {
        begun.resolve();
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
      },
    });
    const seen: string[] = [];
    const app = runtime({
      app: 'slow',
      ports: { clock },
      lifecycle: {
        postProcess: (_ctx, { status, error }) => void seen.push(`${status} ${error?.code}`),
      },
    });
    const run = app.run(slow, { timeoutMs: 1_000 });
    await begun.promise;
    clock.advance(1_001);
    expect(await run).toMatchObject({ status: 'error', error: { code: 'timeout' } });
    await run.settled();
    expect(seen).toEqual(['error timeout']);
    await app.close();
  });

  test('does not come after a cancelled run, or one that was not let in', async () => {
    const begun = Promise.withResolvers<void>();
    const slow = step({
      name: 'slow',
      execute: ({ signal }) => {
        begun.resolve();
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(undefined)));
      },
    });
    const { app, seen } = followed([slow, failing], {
      admit: (_ctx, { input }) => (input === 'no' ? { refuse: 'No.' } : true),
      prepare: (_ctx, { input }) => {
        if (input === 'broken') throw new Error('The database is away');
      },
    });
    const cancelled = app.run(slow, 'yes');
    await begun.promise;
    cancelled.cancel();
    expect((await cancelled).status).toBe('cancelled');
    expect((await app.run(failing, 'no')).stopReason).toBe('refused');
    const broken = app.run(failing, 'broken');
    expect((await broken).status).toBe('error');
    await broken.settled();
    expect(seen).toEqual([]);
    await app.close();
  });

  test('comes again after each end of a run that is reopened', async () => {
    let left = 2;
    const flaky = step({
      name: 'flaky',
      execute: (ctx) => {
        if (left-- > 0) throw new Error('Not yet');
        return ctx.complete('fine');
      },
    });
    const { app, seen } = followed([flaky]);
    const first = app.run(flaky, { runId: 'r' });
    const { session } = await first;
    await first.settled();
    for (let again = 0; again < 2; again++) {
      await app.sessions.reopen(session, { reason: 'fixed' });
      const resumed = app.resume(session);
      await resumed;
      await resumed.settled();
    }
    expect(seen).toEqual([
      'error undefined step_error',
      'error undefined step_error',
      'completed "fine" undefined',
    ]);
    expect(ends(session.events)).toEqual([
      ...['r error', 'r/~postProcess completed'],
      ...['r error', 'r/~postProcess.2 completed'],
      ...['r completed', 'r/~postProcess.3 completed'],
    ]);
    await app.close();
  });

  test('ends once, wherever the process stopped', async () => {
    const whole = followed([failing]);
    const run = whole.app.run(failing, { runId: 'r' });
    const { session } = await run;
    await run.settled();
    const events = [...session.events];
    await whole.app.close();
    for (const cut of appendBoundaries(events)) {
      const { app, seen } = followed([failing]);
      const given = { app: 'followed', id: 's', events: events.slice(0, cut) };
      const restored = await app.sessions.restore(given);
      const had = ends(given.events);
      const isOver = had.includes('r/~postProcess completed');
      const again =
        had.length > 0 && !isOver
          ? app.resume(restored)
          : app.run(failing, { session: restored, runId: 'r' });
      expect((await again).status).toBe('error');
      await again.settled();
      expect(ends(restored.events)).toEqual(['r error', 'r/~postProcess completed']);
      expect(seen).toEqual(isOver ? [] : ['error undefined step_error']);
      await app.close();
    }
  });
});
