import { type LifecycleOptions, memoryStore, runtime, step } from 'adjutant';
import { appendBoundaries, takingOver, tickingClock } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { clerkOf, ends } from './clerk.ts';

test(
  'a crash at any place leaves the preparation done, the admission asked and the follow-up ' +
    'once ended',
  async () => {
    const make = () => {
      const done: string[] = [];
      const lifecycle: LifecycleOptions = {
        prepare: async (ctx) => {
          await ctx.effect('load', () => void done.push('load'), { recovery: 'rerun' });
          ctx.state['profile'] = 'ann';
        },
        admit: () => void done.push('admit'),
        postProcess: async (ctx, { output }) => {
          await ctx.effect('store', () => void done.push('store'), { recovery: 'rerun' });
          done.push(`ended ${String(output)}`);
        },
      };
      const root = step({
        name: 'root',
        execute: (ctx) => ctx.complete(`${String(ctx.state['profile'])} was here`),
      });
      const ports = { clock: tickingClock() };
      const app = runtime({
        app: 'lifecycle',
        store: memoryStore(),
        runnables: [root],
        recover: 'manual',
        lifecycle,
        ports,
      });
      return { app, root, done };
    };
    const whole = make();
    const first = whole.app.run(whole.root, { input: 'Go', runId: 'r' });
    const { session } = await first;
    await first.settled();
    const events = [...session.events];
    await whole.app.close();
    const boundaries = appendBoundaries(events);
    expect(boundaries.length).toBeGreaterThan(8);
    for (const cut of boundaries) {
      const { app, root, done } = make();
      const restored = await app.sessions.restore({
        app: 'lifecycle',
        id: 's',
        events: events.slice(0, cut),
      });
      const isOver = ends(events.slice(0, cut)).includes('r/~postProcess completed');
      const hasRoot = events.slice(0, cut).some(({ type }) => type === 'invocation_start');
      const run =
        hasRoot && !isOver
          ? app.resume(restored)
          : app.run(root, { session: restored, input: 'Go', runId: 'r' });
      expect(await run).toMatchObject({ status: 'completed', output: 'ann was here' });
      await run.settled();
      expect(ends(restored.events)).toEqual([
        'r/~prepare completed',
        'r/~admit completed',
        'r completed',
        'r/~postProcess completed',
      ]);
      expect(done.filter((what) => what.startsWith('ended'))).toHaveLength(isOver ? 0 : 1);
      expect(restored.status).toBe('completed');
      await app.close();
    }
  },
);

test(
  'a process without the lifecycle leaves the follow-up of a run to others, and runs what it ' +
    'is asked to',
  async () => {
    const store = takingOver(memoryStore());
    const { clerk } = clerkOf();
    const lifecycle: LifecycleOptions = {
      postProcess: (ctx) =>
        new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve())),
    };
    const first = runtime({
      app: 'lifecycle',
      store,
      runnables: [clerk],
      recover: 'manual',
      lifecycle,
    });
    await first.run(clerk, { input: 'Hello', runId: 'r', session: 's' });
    await first.close();
    const other = clerkOf(['two']).clerk;
    const second = runtime({ app: 'lifecycle', store, runnables: [other], recover: 'manual' });
    expect(await second.run(other, { input: 'And now?', session: 's' })).toMatchObject({
      status: 'completed',
      output: 'two',
    });
    await expect(second.resume('s')).rejects.toMatchObject({ code: 'unknown_runnable' });
    await second.close();
    const outputs: unknown[] = [];
    const again = {
      postProcess: (_ctx: unknown, { output }: { output: unknown }) => void outputs.push(output),
    };
    const third = runtime({
      app: 'lifecycle',
      store,
      runnables: [clerkOf().clerk],
      recover: 'manual',
      lifecycle: again,
    });
    for (const run of await third.recovery.resumeStopped()) await run.settled();
    expect(outputs).toEqual(['done']);
    await third.close();
  },
);

test('another process follows up a run whose process stopped in between, by itself', async () => {
  const store = takingOver(memoryStore());
  const { clerk } = clerkOf();
  const begun = Promise.withResolvers<void>();
  const postProcess = async (ctx: { readonly signal: AbortSignal }) => {
    begun.resolve();
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
  };
  const first = runtime({
    app: 'lifecycle',
    store,
    runnables: [clerk],
    recover: 'manual',
    lifecycle: { postProcess },
  });
  expect(await first.run(clerk, { input: 'Hello', runId: 'r', session: 's' })).toMatchObject({
    output: 'done',
  });
  await begun.promise;
  // Gives back what is under way, as a process does that is told to end; the store lives on.
  await first.close();
  const outputs: unknown[] = [];
  const again = clerkOf().clerk;
  const second = runtime({
    app: 'lifecycle',
    store,
    runnables: [again],
    recover: 'manual',
    lifecycle: { postProcess: (_ctx, { output }) => void outputs.push(output) },
  });
  const [taken, ...more] = await second.recovery.resumeStopped();
  expect(more).toEqual([]);
  expect(await taken).toMatchObject({ status: 'completed', output: 'done' });
  await taken?.settled();
  expect(outputs).toEqual(['done']);
  expect(await second.recovery.resumeStopped()).toEqual([]);
  await second.close();
});
