import { agent, type Event, memoryStore, runtime, step, tool } from 'adjutant';
import { promptOf } from 'adjutant/context';
import { type ScriptedResponse, scriptedModel } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const ends = (events: readonly Event[]) =>
  events.flatMap((event) =>
    event.type === 'invocation_end' ? [`${event.invocationId} ${event.status}`] : [],
  );

/** An agent whose tool spawns a child that waits for a gate, and lets it go. */
function detaching(
  responses: readonly ScriptedResponse[] = [{ toolCalls: [{ name: 'start' }] }, { text: 'done' }],
) {
  const gate = Promise.withResolvers<void>();
  const child = step({
    name: 'child',
    execute: async (ctx) => {
      await Promise.race([
        gate.promise,
        new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve())),
      ]);
      return ctx.complete('late');
    },
  });
  const start = tool({
    name: 'start',
    description: 'Starts',
    schema: z.object({}),
    execute: (ctx) => {
      const handle = ctx.spawn(child);
      handle.detach();
      return 'started';
    },
  });
  const model = scriptedModel(responses);
  return { gate, child, model, boss: agent({ name: 'boss', model, tools: [start] }) };
}

test(
  'an agent ends without waiting for what its tool detached, and is not told of ' + 'its end',
  async () => {
    const { gate, child, model, boss } = detaching();
    const app = runtime({ app: 'detached', store: memoryStore(), runnables: [boss, child] });
    const run = app.run(boss, { input: 'Go', runId: 'run' });
    const result = await run;
    expect(result).toMatchObject({ status: 'completed', output: 'done', rounds: 2 });
    expect(ends(result.session.events)).toEqual(['run completed']);
    expect(result.session.events.filter((event) => event.type === 'decision')).toMatchObject([
      {
        component: 'spawn',
        decision: 'detach',
        invocationId: 'run',
        data: { path: 'run/r1.0/child' },
      },
    ]);
    gate.resolve();
    await run.settled();
    expect(ends(result.session.events)).toEqual(['run completed', 'run/r1.0/child completed']);
    expect(model.calls).toHaveLength(2);
    for (const event of result.session.events)
      if (event.type === 'model_start') promptOf(result.session, event.seq);
    await app.close();
  },
);

test(
  'another process continues a detached child that was left open, whether its caller had ' +
    'ended or not',
  async () => {
    const first = detaching();
    const store = memoryStore();
    const app = runtime({ app: 'detached', store, runnables: [first.boss, first.child] });
    const run = app.run(first.boss, { input: 'Go', runId: 'run' });
    const { session } = await run;
    const events = [...session.events];
    first.gate.resolve();
    await run.settled();
    await app.close();
    const decided = events.findIndex((event) => event.type === 'decision') + 1;
    for (const cut of [decided + 1, events.length]) {
      const next = detaching([{ text: 'done' }]);
      next.gate.resolve();
      const again = runtime({
        app: 'detached',
        store: memoryStore(),
        runnables: [next.boss, next.child],
      });
      const restored = await again.sessions.restore({
        app: 'detached',
        id: 's',
        events: events.slice(0, cut),
      });
      const resumed = again.resume(restored);
      expect(await resumed).toMatchObject({ status: 'completed', output: 'done' });
      await resumed.settled();
      expect(ends(restored.events).sort()).toEqual(['run completed', 'run/r1.0/child completed']);
      expect(restored.events.filter((event) => event.type === 'decision')).toHaveLength(1);
      await again.close();
    }
  },
);

test('a step that fails leaves what it detached alone', async () => {
  const { gate, child } = detaching();
  const failing = step({
    name: 'failing',
    execute: (ctx) => {
      ctx.spawn(child).detach();
      throw new Error('no more');
    },
  });
  const app = runtime({ app: 'detached', store: memoryStore(), runnables: [failing, child] });
  const run = app.run(failing, { runId: 'run' });
  const { status, session } = await run;
  expect(status).toBe('error');
  gate.resolve();
  await run.settled();
  expect(ends(session.events)).toEqual(['run error', 'run/child completed']);
  await app.close();
});
