import {
  agent,
  type Event,
  memoryStore,
  parallel,
  runtime,
  type StepContext,
  step,
  tool,
} from 'adjutant';
import { appendBoundaries, scriptedModel } from 'adjutant/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { countingClock } from './state-programs.ts';
import { add, appOf, apps, changesOf, continueFrom, turns, upTo } from './stopped-apps.ts';

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

describe('what several branches count after a stop', () => {
  test.each(['++', 'update'])(
    'B18: two items, of which one was done before the stop, are counted once each with %s',
    async (how) => {
      let waits = { a: 0, b: 8 };
      const count = (ctx: StepContext, key: string): void => {
        if (how === '++') ctx.state[key] = add(ctx.state[key]);
        else ctx.state.update(key, add);
      };
      const body = step({
        name: 'map',
        execute: async (ctx) => {
          await Promise.all(
            (['a', 'b'] as const).map(async (item) => {
              await turns(waits[item]);
              count(ctx, 'started');
              await ctx.effect(`work-${item}`, () => item);
              count(ctx, 'done');
              await ctx.effect(`after-${item}`, () => item);
            }),
          );
          return ctx.complete({
            started: ctx.state['started'] as number,
            done: ctx.state['done'] as number,
          });
        },
      });
      const { session } = await appOf(body).run(body, { runId: 'run' });
      const before = upTo(
        session.events,
        (event) => event.type === 'tool_result' && event.callId === 'run/after-a',
      );
      waits = { a: 8, b: 0 };
      const { result } = await continueFrom(before, body);
      expect(result.output).toEqual({ started: 2, done: 2 });
      expect({ ...result.session.state }).toEqual({ started: 2, done: 2 });
    },
  );

  test('B18: a value that a later branch writes again is not taken back before', async () => {
    let waits = { a: 0, b: 4 };
    const body = step({
      name: 'map',
      execute: async (ctx) => {
        await Promise.all(
          (['a', 'b'] as const).map(async (item) => {
            await turns(waits[item]);
            ctx.state[item] = 'seen';
            await ctx.effect(`work-${item}`, () => item);
          }),
        );
      },
    });
    const { session } = await appOf(body).run(body, { runId: 'run' });
    const before = upTo(session.events, (event) => event.type === 'tool_result');
    waits = { a: 4, b: 0 };
    const { result } = await continueFrom(before, body);
    expect({ ...result.session.state }).toEqual({ a: 'seen', b: 'seen' });
    expect(changesOf(result.session.events, 'a')).toHaveLength(1);
  });

  test('B18: a value that the body no longer writes is taken back at its end', async () => {
    let isEdited = false;
    const body = step({
      name: 'edited',
      execute: async (ctx) => {
        if (!isEdited) ctx.state['gone'] = 'by the first execution';
        await ctx.effect('work', () => 1);
        await ctx.effect('more', () => 2);
      },
    });
    const { session } = await appOf(body).run(body, { runId: 'run' });
    const before = upTo(session.events, (event) => event.type === 'tool_result');
    isEdited = true;
    const { result } = await continueFrom(before, body);
    expect({ ...result.session.state }).toEqual({});
  });

  test('B18: an update that another branch landed is not landed again', async () => {
    let waits = { a: 0, b: 2 };
    const body = step({
      name: 'map',
      execute: async (ctx) => {
        await Promise.all(
          (['a', 'b'] as const).map(async (item) => {
            await turns(waits[item]);
            ctx.state.update('n', add);
            await turns(waits.a + waits.b);
            await ctx.effect(`work-${item}`, () => item);
          }),
        );
      },
    });
    const { session } = await appOf(body).run(body, { runId: 'run' });
    const before = upTo(session.events, (event) => event.type === 'tool_result');
    expect(changesOf(before, 'n')).toHaveLength(2);
    waits = { a: 0, b: 6 };
    const { result } = await continueFrom(before, body);
    expect(result.session.state['n']).toBe(2);
    expect(changesOf(result.session.events, 'n')).toHaveLength(2);
  });

  test(
    'B18: updates of children and of branches of `parallel` that end at the same time are ' +
      'all counted',
    async () => {
      const one = (name: string) => step({ name, execute: (ctx) => ctx.state.update('n', add) });
      const body = step({
        name: 'body',
        execute: async (ctx) => {
          await Promise.all(['a', 'b', 'c'].map((key) => ctx.call(one('one'), { key })));
          await ctx.call(
            parallel({
              name: 'both',
              runnables: [one('left'), one('right')],
              merge: ({ branches, state }) => ({ n: Number(state['n']) + branches.length }),
            }),
          );
        },
      });
      const { session } = await appOf(body).run(body, { runId: 'run' });
      expect(session.state['n']).toBe(5);
    },
  );
});

test(
  'B18: outcomes that are recorded come in the order in which they were recorded: a race is ' +
    'won by the same',
  async () => {
    let waits = { a: 6, b: 0 };
    const winners: unknown[] = [];
    const body = step({
      name: 'race',
      execute: async (ctx) => {
        const work = (item: 'a' | 'b') =>
          ctx.effect(item, () => turns(waits[item]).then(() => item), { recovery: 'rerun' });
        winners.push(await Promise.race([work('a'), work('b')]));
        await ctx.effect('last', () => 1);
      },
    });
    const { session } = await appOf(body).run(body, { runId: 'run' });
    const before = upTo(
      session.events,
      (event) => event.type === 'tool_result' && event.callId === 'run/a',
    );
    waits = { a: 0, b: 0 };
    await continueFrom(before, body);
    expect(winners).toEqual(['b', 'b']);
  },
);

test('B18: parallel calls of one tool with children each count once after a stop', async () => {
  const child = step({ name: 'child', execute: () => undefined });
  const count = tool({
    name: 'count',
    description: 'Counts',
    schema: z.object({ n: z.number() }),
    recovery: 'rerun',
    execute: async (ctx) => {
      ctx.state['total'] = Number(ctx.state['total'] ?? 0) + 1;
      ctx.state.update('sum', (sum) => Number(sum ?? 0) + ctx.args.n);
      await ctx.call(child, { key: 'child' });
      ctx.state.update('sum', (sum) => Number(sum ?? 0) + ctx.args.n);
      return ctx.args.n;
    },
  });
  const calls = [1, 2, 3].map((n) => ({ name: 'count', args: { n } }));
  const counter = agent({
    name: 'counter',
    tools: [count],
    model: scriptedModel((prompt) =>
      prompt.some(({ role }) => role === 'tool') ? { text: 'done' } : { toolCalls: calls },
    ),
  });
  const make = () => {
    const app = runtime({
      app: 'bodies',
      store: memoryStore(),
      recover: 'manual',
      runnables: [counter, child],
      ports: { clock: countingClock() },
    });
    apps.push(app);
    return app;
  };
  const whole = make();
  const { session } = await whole.run(counter, { runId: 'run', input: 'count' });
  expect(session.state['sum']).toBe(12);
  for (const cut of appendBoundaries(session.events).slice(1)) {
    const app = make();
    const open = await app.sessions.restore({
      app: 'bodies',
      id: 's',
      events: session.events.slice(0, cut),
    });
    const { status } = await app.run(counter, { session: open, runId: 'run', input: 'count' });
    expect({ cut, status, sum: open.state['sum'] }).toEqual({ cut, status: 'completed', sum: 12 });
  }
});

test(
  'B18: a ledger of the version before is read and goes on: what it landed with a child is ' +
    'not written again',
  async () => {
    const body = step({
      name: 'body',
      execute: async (ctx) => {
        ctx.state['n'] = add(ctx.state['n']);
        ctx.state.update('n', add);
        await ctx.effect('work', () => 1);
        ctx.state.update('n', add);
      },
    });
    const { session } = await appOf(body).run(body, { runId: 'run' });
    const before = upTo(session.events, (event) => event.type === 'tool_result').map((event) => {
      if (event.type !== 'state_change') return event;
      // The older build kept one change for each key, without saying which kind of write it was.
      return { ...event, v: 1, changes: [{ key: 'n', newValue: 2 }] } as Event;
    });
    const { result } = await continueFrom(before, body);
    expect(result).toMatchObject({ status: 'completed' });
    expect(result.session.state['n']).toBe(3);
    expect(changesOf(result.session.events, 'n')).toHaveLength(2);
  },
);
