import { type Event, memoryStore, parallel, runtime, step } from 'adjutant';
import { appendBoundaries } from 'adjutant/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

const stateSchema = { session: {}, user: { score: z.number() } };

test(
  'the last execution of a body has the word on what it writes; a child keeps what it saw ' +
    'when it was started',
  async () => {
    let clock = 1;
    const seen: unknown[] = [];
    const child = step({
      name: 'child',
      execute: (ctx) => ctx.complete((ctx.state['stamp'] as number) * 10),
    });
    const body = () =>
      step({
        name: 'body',
        execute: async (ctx) => {
          ctx.state['stamp'] = clock;
          const { output } = await ctx.call(child);
          seen.push([ctx.state['stamp'], output]);
          return ctx.complete(ctx.state['stamp'] as number);
        },
      });
    const { session } = await runtime({ app: 'again' }).run(body(), { runId: 'run' });
    for (const cut of appendBoundaries(session.events).filter(
      (at) => at > 1 && at < session.events.length,
    )) {
      clock = 100 + cut;
      const begun = session.events
        .slice(0, cut)
        .some((event) => event.type === 'invocation_start' && event.name === 'child');
      const app = runtime({ app: 'again', store: memoryStore(), runnables: [body(), child] });
      const restored = await app.sessions.restore({
        app: 'again',
        id: 's',
        events: session.events.slice(0, cut),
      });
      const { output } = await app.resume(restored);
      const childSaw = begun ? 1 : clock;
      expect({ cut, output, seen: seen.at(-1) }).toEqual({
        cut,
        output: clock,
        seen: [clock, childSaw * 10],
      });
      expect(restored.state['stamp']).toBe(clock);
      expect(restored.events.filter(({ type }) => type === 'state_change')).toHaveLength(
        begun ? 2 : 1,
      );
      await app.close();
    }
  },
);

test(
  'a counter that concurrent code shares counts every child once, in whatever order the code ' +
    'runs again',
  async () => {
    let waits = [0, 1, 2];
    const child = step({ name: 'child', execute: () => undefined });
    const body = () =>
      step({
        name: 'body',
        execute: async (ctx) => {
          await Promise.all(
            waits.map(async (turns, i) => {
              for (let turn = 0; turn < turns; turn++) await Promise.resolve();
              ctx.state['n'] = ((ctx.state['n'] as number | undefined) ?? 0) + 1;
              await ctx.call(child, { key: `k${i}` });
            }),
          );
          return ctx.complete(ctx.state['n'] as number);
        },
      });
    const { session, output } = await runtime({ app: 'again' }).run(body(), { runId: 'run' });
    expect(output).toBe(3);
    waits = [5, 3, 0];
    const upTo = session.events.findIndex(
      (event) => event.type === 'invocation_end' && event.invocationId === 'run',
    );
    const app = runtime({ app: 'again', store: memoryStore(), runnables: [body(), child] });
    const events: readonly Event[] = session.events.slice(0, upTo);
    expect(
      await app.resume(await app.sessions.restore({ app: 'again', id: 's', events })),
    ).toMatchObject({ output: 3 });
    await app.close();
  },
);

test('what branches below a child wrote to a shared scope is read by its caller', async () => {
  const app = runtime({ app: 'again', store: memoryStore(), stateSchema });
  const session = await app.sessions.open({ id: 's', userId: 'u', stateSchema });
  const write = step({
    name: 'write',
    stateSchema,
    execute: (ctx) => {
      ctx.state.user.score = 7;
    },
  });
  const body = step({
    name: 'body',
    stateSchema,
    execute: async (ctx) => {
      await ctx.call(parallel({ name: 'both', runnables: [write] }));
      return ctx.complete(ctx.state.user.score ?? null);
    },
  });
  expect(await app.run(body, { session })).toMatchObject({ status: 'completed', output: 7 });
  await app.close();
});
