import { memoryStore, runtime, step } from 'adjutant';
import { keptOpen } from 'adjutant/testing';
import { expect, test } from 'vitest';

/** A step that says when it has begun and then waits until it is told to stop. */
function endless(name: string) {
  const begun = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const runnable = step({
    name,
    execute: async (ctx) => {
      begun.resolve();
      await new Promise<void>((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => {
          stopped.resolve();
          reject(ctx.signal.reason);
        });
      });
    },
  });
  return { runnable, begun: begun.promise, stopped: stopped.promise };
}

test(
  'close gives back what earlier runs dispatched, and another process ' + 'continues it',
  async () => {
    const store = memoryStore();
    const child = endless('audit');
    const parent = step({
      name: 'parent',
      execute: (ctx) => {
        ctx.dispatch(child.runnable);
        return ctx.complete('ended');
      },
    });
    const app = runtime({
      app: 'closing',
      store: keptOpen(store),
      runnables: [parent, child.runnable],
    });
    const result = await app.run(parent, { session: 's' });
    expect(result.output).toBe('ended');
    await child.begun;
    await app.close();
    await child.stopped;
    const ended = step({ name: 'audit', execute: (ctx) => ctx.complete('audited') });
    const next = runtime({ app: 'closing', store, runnables: [parent, ended] });
    const resumed = next.resume('s');
    await resumed.settled();
    const session = (await resumed).session;
    expect(
      session.events
        .filter(({ type }) => type === 'invocation_end')
        .map((event) => event.invocationId?.split('/').at(-1)),
    ).toContain('audit');
    await next.close();
  },
);

test('settled waits for dispatched children', async () => {
  const gate = Promise.withResolvers<void>();
  const child = step({
    name: 'slow',
    execute: async (ctx) => {
      await gate.promise;
      ctx.state['done'] = true;
    },
  });
  const parent = step({ name: 'parent', execute: (ctx) => void ctx.dispatch(child) });
  const app = runtime({ app: 'settling' });
  const run = app.run(parent);
  const { session } = await run;
  expect(session.state['done']).toBeUndefined();
  gate.resolve();
  await run.settled();
  expect(session.state['done']).toBe(true);
  await app.close();
});

test('resuming a session whose runs have ended says so', async () => {
  const app = runtime({ app: 'ended', runnables: [step({ name: 'x', execute: () => undefined })] });
  await app.run(step({ name: 'x', execute: () => undefined }), { session: 's' });
  await expect(app.resume('s')).rejects.toMatchObject({ code: 'no_open_run' });
  await expect(app.resume('nobody')).rejects.toMatchObject({ code: 'session_not_found' });
  await app.close();
});
