import {
  agent,
  type Event,
  memoryStore,
  parallel,
  type Runtime,
  runtime,
  type Step,
  type StepContext,
  step,
  tool,
} from 'adjutant';
import { appendBoundaries, scriptedModel } from 'adjutant/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { countingClock } from './state-programs.ts';

const apps: Runtime[] = [];

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

function appOf(...runnables: readonly Step[]): Runtime {
  const app = runtime({ app: 'bodies', store: memoryStore(), recover: 'manual', runnables });
  apps.push(app);
  return app;
}

/** Continues a run from the first events of its ledger, in an app that knows nothing of it. */
async function continueFrom(events: readonly Event[], body: Step) {
  const app = appOf(body);
  const session = await app.sessions.restore({ app: 'bodies', id: 's', events: [...events] });
  const result = await app.run(body, { session, runId: 'run' });
  return { result, session };
}

const upTo = (events: readonly Event[], isLast: (event: Event) => boolean): readonly Event[] =>
  events.slice(0, events.findIndex(isLast) + 1);
const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++)
    await new Promise<void>((resolve) => setImmediate(resolve));
};
const changesOf = (events: readonly Event[], key: string) =>
  events.flatMap((event) =>
    event.type === 'state_change' ? event.changes.filter((change) => change.key === key) : [],
  );
const add = (n: unknown): number => Number(n ?? 0) + 1;

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

describe('keys that others write too', () => {
  /** A child adds ten to what a branch beside it has set. */
  const sharing = (waits: () => { readonly child: number; readonly set: number }) => {
    const child = step({
      name: 'child',
      execute: (ctx) => ctx.state.update('n', (n) => Number(n ?? 0) + 10),
    });
    return step({
      name: 'body',
      execute: async (ctx) => {
        await Promise.all([
          turns(waits().child).then(() => ctx.call(child, { key: 'c' })),
          turns(waits().set).then(async () => {
            ctx.state['n'] = add(ctx.state['n']);
            await ctx.effect('done', () => 1, { recovery: 'rerun' });
          }),
        ]);
      },
    });
  };

  test(
    'B18: a plain write in another order than before is `state_order`, before anything ' +
      'lands, and the run stays open',
    async () => {
      let waits = { child: 0, set: 6 };
      const body = sharing(() => waits);
      const { session } = await appOf(body).run(body, { runId: 'run' });
      expect(session.state['n']).toBe(11);
      const before = upTo(session.events, (event) => event.type === 'tool_attempt');
      waits = { child: 6, set: 0 };
      const app = appOf(body);
      const open = await app.sessions.restore({ app: 'bodies', id: 's', events: [...before] });
      await expect(app.run(body, { session: open, runId: 'run' })).rejects.toMatchObject({
        code: 'state_order',
        data: { path: 'run', scope: 'session', key: 'n', reason: 'order' },
      });
      expect(changesOf(open.events, 'n')).toEqual(changesOf(before, 'n'));
      expect(
        open.events.some(
          ({ type, invocationId }) => type === 'invocation_end' && invocationId === 'run',
        ),
      ).toBe(false);
      // In the order that is recorded it goes on.
      waits = { child: 0, set: 6 };
      const { result } = await continueFrom(open.events, body);
      expect(result).toMatchObject({ status: 'completed' });
      expect(result.session.state['n']).toBe(11);
    },
  );

  test('B18: the error says what helps, and code that catches it does not go on', async () => {
    let waits = { child: 0, set: 6 };
    const inner = sharing(() => waits);
    const body = step({
      name: 'body',
      execute: async (ctx) => {
        try {
          await inner.execute(ctx);
        } catch {
          // Code that swallows it.
        }
        await ctx.effect('afterwards', () => 1);
      },
    });
    const { session } = await appOf(body).run(body, { runId: 'run' });
    const before = upTo(session.events, (event) => event.type === 'tool_attempt');
    waits = { child: 6, set: 0 };
    await expect(continueFrom(before, body)).rejects.toThrow(
      /"n" of the session state.*update\(key, fn, \{ id \}\)/s,
    );
  });

  test(
    'B18: an update that the code no longer makes is `state_order`, unless the step accepts ' +
      'it',
    async () => {
      const bodyOf = (counts: boolean, onDrift: 'fail' | 'accept') =>
        step({
          name: 'body',
          onDrift,
          execute: async (ctx) => {
            if (counts) ctx.state.update('n', add);
            await ctx.effect('work', () => 1);
            await ctx.effect('more', () => 1);
          },
        });
      const { session } = await appOf(bodyOf(true, 'fail')).run(bodyOf(true, 'fail'), {
        runId: 'run',
      });
      const before = upTo(session.events, (event) => event.type === 'tool_result');
      await expect(continueFrom(before, bodyOf(false, 'fail'))).rejects.toMatchObject({
        code: 'state_order',
        data: { reason: 'left_over' },
      });
      const { result } = await continueFrom(before, bodyOf(false, 'accept'));
      expect(result.status).toBe('completed');
      expect(result.session.events).toContainEqual(
        expect.objectContaining({ type: 'decision', decision: 'accept_state_order' }),
      );
    },
  );

  test(
    'B18: an update with an `id` is found whatever runs beside it, and one `id` names one ' +
      'update of a key',
    async () => {
      const body = step({
        name: 'body',
        execute: async (ctx) => {
          ctx.state.update('n', add, { id: 'once' });
          ctx.state.update('m', add, { id: 'once' });
          await ctx.effect('work', () => 1);
          ctx.state.update('n', add, { id: 'once' });
        },
      });
      const result = await appOf(body).run(body, { runId: 'run' });
      expect(result).toMatchObject({ status: 'error', error: { code: 'invalid_key' } });
      const wrong = step({
        name: 'wrong',
        execute: (ctx) => ctx.state.update('n', add, { id: 7 as never }),
      });
      expect(await appOf(wrong).run(wrong)).toMatchObject({
        status: 'error',
        error: { code: 'invalid_state' },
      });
      const unknown = step({
        name: 'unknown',
        execute: (ctx) => ctx.state.update('n', add, { key: 'x' } as never),
      });
      expect(await appOf(unknown).run(unknown)).toMatchObject({
        status: 'error',
        error: { code: 'invalid_state' },
      });
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
